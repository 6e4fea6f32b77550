// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"strings"
	"testing"
)

// Fields of the detailed resources (specification, "Detailed Resources"), each with its type, from the part of an object that
// the key names.
var fields = map[string]map[string]string{
	"services spec":       {"template": "object", "traffic": "array"},
	"configurations spec": {"template": "object"},
	"routes spec":         {"traffic": "array"},
	"services status": {
		"conditions": "array", "observedGeneration": "integer", "url": "string", "address.url": "string", "traffic": "array",
		"latestCreatedRevisionName": "string", "latestReadyRevisionName": "string",
	},
	"configurations status": {
		"conditions": "array", "observedGeneration": "integer", "latestCreatedRevisionName": "string", "latestReadyRevisionName": "string",
	},
	"routes status": {
		"conditions": "array", "observedGeneration": "integer", "url": "string", "address.url": "string", "traffic": "array",
	},
	"revisions status": {
		"conditions": "array", "observedGeneration": "integer", "logUrl": "string", "containerStatuses": "array",
		"containerStatuses.name": "string", "containerStatuses.imageDigest": "string", "actualReplicas": "integer", "desiredReplicas": "integer",
	},
	"services spec.traffic":   {"revisionName": "string", "latestRevision": "boolean", "tag": "string", "percent": "integer"},
	"routes spec.traffic":     {"revisionName": "string", "configurationName": "string", "latestRevision": "boolean", "tag": "string", "percent": "integer"},
	"routes status.traffic":   {"revisionName": "string", "latestRevision": "boolean", "tag": "string", "percent": "integer", "url": "string"},
	"services status.traffic": {"revisionName": "string", "latestRevision": "boolean", "tag": "string", "percent": "integer", "url": "string"},
	"routes status.conditions": {
		"type": "string", "status": "string", "reason": "string", "message": "string", "severity": "string", "lastTransitionTime": "string",
	},
	"revisions spec":                    revisionFields,
	"services spec.template.spec":       revisionFields,
	"configurations spec.template.spec": revisionFields,
}

var revisionFields = map[string]string{
	"containerConcurrency": "integer", "timeoutSeconds": "integer", "containers": "array", "volumes": "array",
	"serviceAccountName": "string", "imagePullSecrets": "array",
	"containers.name": "string", "containers.args": "array", "containers.command": "array", "containers.image": "string",
	"containers.imagePullPolicy": "string", "containers.workingDir": "string", "containers.resources.limits": "object",
	"containers.resources.requests": "object", "containers.terminationMessagePath": "string", "containers.terminationMessagePolicy": "string",
	"containers.ports.name": "string", "containers.ports.containerPort": "integer", "containers.ports.protocol": "string",
	"containers.env.name": "string", "containers.env.value": "string",
	"containers.env.valueFrom.configMapKeyRef.key": "string", "containers.env.valueFrom.configMapKeyRef.name": "string",
	"containers.env.valueFrom.configMapKeyRef.optional": "boolean", "containers.env.valueFrom.secretKeyRef.key": "string",
	"containers.env.valueFrom.secretKeyRef.name": "string", "containers.env.valueFrom.secretKeyRef.optional": "boolean",
	"containers.envFrom.prefix": "string", "containers.envFrom.configMapRef.name": "string", "containers.envFrom.configMapRef.optional": "boolean",
	"containers.envFrom.secretRef.name": "string", "containers.envFrom.secretRef.optional": "boolean",
	"containers.volumeMounts.name": "string", "containers.volumeMounts.mountPath": "string", "containers.volumeMounts.readOnly": "boolean",
	"containers.volumeMounts.subPath":            "string",
	"containers.livenessProbe.httpGet.path":      "string",
	"containers.readinessProbe.httpGet.host":     "string",
	"containers.readinessProbe.httpGet.scheme":   "string",
	"containers.readinessProbe.httpGet.path":     "string",
	"containers.readinessProbe.httpGet.port":     "",
	"containers.readinessProbe.tcpSocket.host":   "string",
	"containers.readinessProbe.exec.command":     "array",
	"containers.readinessProbe.failureThreshold": "integer", "containers.readinessProbe.successThreshold": "integer",
	"containers.readinessProbe.initialDelaySeconds": "integer", "containers.readinessProbe.timeoutSeconds": "integer",
	"containers.readinessProbe.periodSeconds":           "integer",
	"containers.readinessProbe.httpGet.httpHeaders":     "array",
	"containers.securityContext.runAsUser":              "integer",
	"containers.securityContext.runAsGroup":             "integer",
	"containers.securityContext.readOnlyRootFilesystem": "boolean",
	"volumes.name": "string", "volumes.secret.secretName": "string", "volumes.configMap.name": "string",
	"volumes.secret.items.key": "string", "volumes.configMap.items.path": "string", "volumes.projected.sources": "array",
}

// "Every field of the tables is in the schema", of both versions, and no further field is required (specification, "Detailed
// Resources" and "Extensions").
func TestFields(t *testing.T) {
	s := newSpace(t)
	for part, want := range fields {
		plural, path, _ := strings.Cut(part, " ")
		for version, schema := range s.schemas(plural) {
			at := schema.at(path)
			for field, kind := range want {
				f := at.at(field)
				if f == nil {
					t.Errorf("%s %s: %s.%s is not in the schema", plural, version, path, field)
				} else if f.Type != kind {
					t.Errorf("%s %s: %s.%s is a %s, want %s", plural, version, path, field, f.Type, kind)
				}
			}
			if spec := schema.at("spec"); len(spec.Required) > 1 {
				t.Errorf("%s %s: more fields of the spec are required than one: %v", plural, version, spec.Required)
			}
		}
	}
}

// objectSchema is a part of an OpenAPI schema.
type objectSchema struct {
	Type       string
	Properties map[string]*objectSchema
	Items      *objectSchema
	Required   []string
}

// at goes down a path; what is in an array is a field of it. nil is not there.
func (s *objectSchema) at(path string) *objectSchema {
	for field := range strings.SplitSeq(path, ".") {
		if s == nil {
			return nil
		}
		if s.Items != nil {
			s = s.Items
		}
		s = s.Properties[field]
	}
	return s
}

// schemas are those of the versions of a resource.
func (s *space) schemas(plural string) map[string]*objectSchema {
	s.t.Helper()
	raw, err := s.Kube.CoreV1().RESTClient().Get().
		AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", plural+".serving.knative.dev").DoRaw(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema *objectSchema }
			}
		}
	}
	if err := json.Unmarshal(raw, &definition); err != nil {
		s.t.Fatal(err)
	}
	versions := map[string]*objectSchema{}
	for _, v := range definition.Spec.Versions {
		versions[v.Name] = v.Schema.OpenAPIV3Schema
	}
	if versions["v1"] == nil || versions["v1beta1"] == nil {
		s.t.Fatalf("%s are served as %v", plural, versions)
	}
	return versions
}
