package v1

import (
	"context"
	"weir.dev/pkg/apis"
)

func (*Service) SetDefaults(context.Context)                     {}
func (*Service) Validate(context.Context) *apis.FieldError       { return nil }
func (*Configuration) SetDefaults(context.Context)               {}
func (*Configuration) Validate(context.Context) *apis.FieldError { return nil }
func (*Revision) SetDefaults(context.Context)                    {}
func (*Revision) Validate(context.Context) *apis.FieldError      { return nil }
func (*Route) SetDefaults(context.Context)                       {}
func (*Route) Validate(context.Context) *apis.FieldError         { return nil }
