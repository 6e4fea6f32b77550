// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"weir.dev/pkg/apis"
	"weir.dev/pkg/apis/duck/ducktypes"
)

// Conditions of sources.
const (
	// SourceConditionSinkProvided is True when the source knows where to send to.
	SourceConditionSinkProvided apis.ConditionType = "SinkProvided"
	// SourceConditionOIDCIdentityCreated is True when the source has an identity.
	SourceConditionOIDCIdentityCreated apis.ConditionType = "OIDCIdentityCreated"
)

// Source is a resource that sends events to a sink.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +genduck
type Source struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says where to.
	Spec SourceSpec `json:"spec"`
	// Status says where to, in the end.
	Status SourceStatus `json:"status"`
}

// SourceList is a list of Source.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type SourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	// Items are the resources.
	Items []Source `json:"items"`
}

// SourceSpec is the part of a spec that sources have; it is inlined.
type SourceSpec struct {
	// Sink is where events go.
	Sink Destination `json:"sink,omitempty"`

	// CloudEventOverrides changes what is sent.
	// +optional
	CloudEventOverrides *CloudEventOverrides `json:"ceOverrides,omitempty"`
}

// CloudEventOverrides says what to change of each event.
type CloudEventOverrides struct {
	// Extensions are attributes to add or replace.
	// +optional
	Extensions map[string]string `json:"extensions,omitempty"`
}

// SourceStatus is the part of a status that sources have; it is inlined.
type SourceStatus struct {
	Status `json:",inline"`

	// SinkURI is the sink's address as it was found.
	// +optional
	SinkURI *apis.URL `json:"sinkUri,omitempty"`

	// SinkCACerts are the certification authorities of the sink, PEM.
	// +optional
	SinkCACerts *string `json:"sinkCACerts,omitempty"`

	// SinkAudience is the OIDC audience of the sink.
	// +optional
	SinkAudience *string `json:"sinkAudience,omitempty"`

	// CloudEventAttributes are those of the events that the source may send.
	// +optional
	CloudEventAttributes []CloudEventAttributes `json:"ceAttributes,omitempty"`

	// Auth is the identity that the source sends with.
	// +optional
	Auth *AuthStatus `json:"auth,omitempty"`
}

// CloudEventAttributes tell one kind of event from others.
type CloudEventAttributes struct {
	// Type is the CloudEvent type.
	Type string `json:"type,omitempty"`
	// Source is the CloudEvent source.
	Source string `json:"source,omitempty"`
}

// AuthStatus is the identity that a resource acts with.
type AuthStatus struct {
	// ServiceAccountName is the account, where there is one.
	// +optional
	ServiceAccountName *string `json:"serviceAccountName,omitempty"`

	// ServiceAccountNames are the accounts, where there are several.
	// +optional
	ServiceAccountNames []string `json:"serviceAccountNames,omitempty"`
}

var (
	_ ducktypes.Implementable = (*Source)(nil)
	_ ducktypes.Populatable   = (*Source)(nil)
	_ KRShaped                = (*Source)(nil)
)

// GetFullType returns the resource with this shape.
func (*Source) GetFullType() ducktypes.Populatable { return &Source{} }

// GetListType returns an empty list.
func (*Source) GetListType() runtime.Object { return &SourceList{} }

// GetStatus returns the status, not a copy.
func (s *Source) GetStatus() *Status { return &s.Status.Status }

// GetConditionSet returns the conditions that all sources have.
func (*Source) GetConditionSet() apis.ConditionSet {
	return apis.NewLivingConditionSet(SourceConditionSinkProvided)
}

// IsReady tells whether the source sends.
func (s *SourceStatus) IsReady() bool {
	c := s.GetCondition(apis.ConditionReady)
	return c != nil && c.IsTrue()
}

// Validate checks sink and overrides.
func (s *SourceSpec) Validate(ctx context.Context) *apis.FieldError {
	return s.Sink.Validate(ctx).ViaField("sink").Also(s.CloudEventOverrides.Validate(ctx).ViaField("ceOverrides"))
}

// Validate checks that extensions have names that CloudEvents allow: lower-case
// letters and digits.
func (o *CloudEventOverrides) Validate(context.Context) *apis.FieldError {
	if o == nil {
		return nil
	}
	var errs *apis.FieldError
	for name := range o.Extensions {
		if !isAttributeName(name) {
			errs = errs.Also(apis.ErrInvalidKeyName(name, "extensions", "keys are lower-case letters and digits"))
		}
	}
	return errs
}

func isAttributeName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// Populate sets every field of the shape.
func (s *Source) Populate() {
	ca, audience, account := "-----BEGIN CERTIFICATE-----", "sample", "account"
	s.Spec = SourceSpec{
		Sink:                Destination{URI: apis.HTTP("sink.example")},
		CloudEventOverrides: &CloudEventOverrides{Extensions: map[string]string{"region": "north"}},
	}
	s.Status = SourceStatus{
		Status: Status{ObservedGeneration: 7, Conditions: Conditions{{
			Type: SourceConditionSinkProvided, Status: "True",
		}}},
		SinkURI: apis.HTTP("sink.example"), SinkCACerts: &ca, SinkAudience: &audience,
		CloudEventAttributes: []CloudEventAttributes{{Type: "example.made", Source: "/things"}},
		Auth:                 &AuthStatus{ServiceAccountName: &account, ServiceAccountNames: []string{account}},
	}
}
