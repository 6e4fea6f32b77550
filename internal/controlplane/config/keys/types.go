// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Type is what the values of a key are.
type Type struct {
	// Name is for people.
	Name string
	// check complains about a text that is no value; it says what one is. Bounds are for the parser of the settings.
	check func(string) error
}

func (t Type) String() string { return t.Name }

var (
	text     = Type{"string", func(string) error { return nil }}
	name     = Type{"string, not empty", notEmpty}
	list     = Type{"comma-separated list", func(string) error { return nil }}
	boolean  = Type{"bool", says("true or false", strconv.ParseBool)}
	integer  = Type{"integer", says("a whole number", func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })}
	seconds  = Type{"integer, seconds", says("a whole number of seconds", func(s string) (int64, error) { return strconv.ParseInt(s, 10, 32) })}
	number   = Type{"number", says("a number", parseNumber)}
	duration = Type{"duration", says(`a duration such as "90s"`, time.ParseDuration)}
	quantity = Type{"quantity", says(`a quantity such as "100m" or "64Mi"`, resource.ParseQuantity)}
	tmpl     = Type{"Go template", says("a Go template", parseTemplate)}
	object   = Type{"JSON", says("a JSON object", parseJSON)}
	yamlMap  = Type{"YAML map", says("a YAML map", parseYAML[map[string]any])}
	selector = Type{"label selector, YAML", says("a label selector", parseSelector)}
	onOff    = orEmpty(oneOf("enabled", "disabled"))
	feature  = oneOf("Enabled", "Allowed", "Disabled")
	ages     = orDisabled(duration)
	limit    = orDisabled(integer)
)

// oneOf is a type of these words, in any case.
func oneOf(words ...string) Type {
	return Type{strings.Join(words, ", "), func(value string) error {
		if slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, strings.TrimSpace(value)) }) {
			return nil
		}
		return errors.New("one of " + strings.Join(words, ", "))
	}}
}

// orEmpty is another type, or as if the key were not there.
func orEmpty(t Type) Type {
	return Type{t.Name, func(value string) error {
		if strings.TrimSpace(value) == "" {
			return nil
		}
		return t.check(value)
	}}
}

// orDisabled is another type or the word disabled.
func orDisabled(t Type) Type {
	return Type{t.Name + " or disabled", func(value string) error {
		value = strings.TrimSpace(value)
		if strings.EqualFold(value, "disabled") {
			return nil
		}
		if err := t.check(value); err != nil {
			return fmt.Errorf("%w, or disabled", err)
		}
		return nil
	}}
}

func says[T any](what string, parse func(string) (T, error)) func(string) error {
	return func(value string) error {
		if _, err := parse(value); err != nil {
			return errors.New(what)
		}
		return nil
	}
}

func notEmpty(value string) error {
	if strings.TrimSpace(value) == "" {
		return errors.New("a name")
	}
	return nil
}

func parseNumber(value string) (float64, error) {
	n, err := strconv.ParseFloat(value, 64)
	if err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
		err = strconv.ErrRange
	}
	return n, err
}

// parseTemplate parses each text in a template of its own: one keeps what is defined in it.
func parseTemplate(value string) (*template.Template, error) { return template.New("").Parse(value) }

func parseJSON(value string) (out map[string]any, err error) {
	if strings.TrimSpace(value) == "" {
		return nil, nil
	}
	return out, json.Unmarshal([]byte(value), &out)
}

func parseYAML[T any](value string) (out T, err error) {
	return out, yaml.UnmarshalStrict([]byte(value), &out)
}

func parseSelector(value string) (any, error) {
	s, err := parseYAML[metav1.LabelSelector](value)
	if err != nil {
		return nil, err
	}
	return metav1.LabelSelectorAsSelector(&s)
}
