package v1alpha1
import ("context";"weir.dev/pkg/apis")
func (*PodAutoscaler) SetDefaults(context.Context) {}
func (*PodAutoscaler) Validate(context.Context) *apis.FieldError { return nil }
