// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package crdgen

import (
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"weir.dev/api/autoscaling"
	autoscalingv1alpha1 "weir.dev/api/autoscaling/v1alpha1"
	"weir.dev/api/networking"
	networkingv1alpha1 "weir.dev/api/networking/v1alpha1"
	"weir.dev/api/serving"
	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/pkg/apis/duck"
)

type column = apiextensionsv1.CustomResourceColumnDefinition

// Packages are the packages whose comments become descriptions.
func Packages() []string {
	return []string{
		"weir.dev/api/serving/v1", "weir.dev/api/networking/v1alpha1",
		"weir.dev/api/autoscaling/v1alpha1", "weir.dev/pkg/apis", "weir.dev/pkg/apis/duck/v1",
	}
}

// Kinds are all kinds that have a definition.
func Kinds() []Kind {
	return append(servingKinds(), internalKinds()...)
}

func servingKinds() []Kind {
	podspecable := "duck.knative.dev/podspecable"
	kind := func(k Kind) Kind {
		k.Group = serving.GroupName
		k.Versions = []string{"v1", "v1beta1"}
		k.Categories = []string{"all", "knative", "serving"}
		return k
	}
	return []Kind{
		kind(Kind{
			Kind: "Service", Plural: "services", Singular: "service", ShortNames: []string{"kservice", "ksvc"},
			Labels:  map[string]string{duck.AddressableLabel: "true", podspecable: "true"},
			Columns: append([]column{text("URL", ".status.url"), latestCreated(), latestReady()}, ready()...),
			Type:    reflect.TypeFor[servingv1.Service](),
		}),
		kind(Kind{
			Kind: "Configuration", Plural: "configurations", Singular: "configuration",
			ShortNames: []string{"config", "cfg"},
			Labels:     map[string]string{podspecable: "true"},
			Columns:    append([]column{latestCreated(), latestReady()}, ready()...),
			Type:       reflect.TypeFor[servingv1.Configuration](),
		}),
		kind(Kind{
			Kind: "Revision", Plural: "revisions", Singular: "revision", ShortNames: []string{"rev"},
			Columns: append(append([]column{
				text("Config Name", `.metadata.labels['serving\.knative\.dev/configuration']`),
				text("Generation", `.metadata.labels['serving\.knative\.dev/configurationGeneration']`),
			}, ready()...),
				number("Actual Replicas", ".status.actualReplicas"),
				number("Desired Replicas", ".status.desiredReplicas")),
			Type: reflect.TypeFor[servingv1.Revision](),
		}),
		kind(Kind{
			Kind: "Route", Plural: "routes", Singular: "route", ShortNames: []string{"rt"},
			Labels:  map[string]string{duck.AddressableLabel: "true"},
			Columns: append([]column{text("URL", ".status.url")}, ready()...),
			Type:    reflect.TypeFor[servingv1.Route](),
		}),
	}
}

func internalKinds() []Kind {
	return []Kind{
		{
			Group: networking.GroupName, Versions: []string{"v1alpha1"},
			Kind: "Ingress", Plural: "ingresses", Singular: "ingress", ShortNames: []string{"kingress", "king"},
			Categories: []string{"knative-internal", "networking"},
			Columns:    ready(),
			Type:       reflect.TypeFor[networkingv1alpha1.Ingress](),
		},
		{
			Group: autoscaling.InternalGroupName, Versions: []string{"v1alpha1"},
			Kind: "PodAutoscaler", Plural: "podautoscalers", Singular: "podautoscaler",
			ShortNames: []string{"kpa", "pa"},
			Categories: []string{"knative-internal", "autoscaling"},
			Columns: append([]column{
				number("DesiredScale", ".status.desiredScale"),
				number("ActualScale", ".status.actualScale"),
			}, ready()...),
			Type: reflect.TypeFor[autoscalingv1alpha1.PodAutoscaler](),
		},
	}
}

func text(name, path string) column { return column{Name: name, Type: "string", JSONPath: path} }

func number(name, path string) column { return column{Name: name, Type: "integer", JSONPath: path} }

func latestCreated() column { return text("LatestCreated", ".status.latestCreatedRevisionName") }

func latestReady() column { return text("LatestReady", ".status.latestReadyRevisionName") }

func ready() []column {
	return []column{
		text("Ready", `.status.conditions[?(@.type=='Ready')].status`),
		text("Reason", `.status.conditions[?(@.type=='Ready')].reason`),
	}
}
