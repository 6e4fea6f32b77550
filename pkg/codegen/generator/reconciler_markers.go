// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const reconcilerMarker = "genreconciler"

// reconcilerOptions are what the markers of a type ask of its reconciler.
type reconcilerOptions struct {
	wanted    bool
	classKeys []string
	krShaped  bool
	stubs     bool
}

// reconcilerOptions reads +genreconciler and +genreconciler:option,option=value.
// What it does not know is an error: a class that is not seen would make a
// controller take everything.
func (m markers) reconcilerOptions() (reconcilerOptions, error) {
	o := reconcilerOptions{krShaped: true}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		rest, ok := strings.CutPrefix(key, reconcilerMarker)
		if !ok {
			if strings.HasPrefix(key, "genrec") {
				return o, fmt.Errorf("unknown marker +%s, want +%s", key, reconcilerMarker)
			}
			continue
		}
		o.wanted = true
		for _, value := range m[key] {
			if err := o.read(rest, value); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// read reads one marker, cut at its first equals sign.
func (o *reconcilerOptions) read(rest, value string) error {
	list, ok := strings.CutPrefix(rest, ":")
	switch {
	case rest == "" && value == "":
		return nil
	case !ok:
		return fmt.Errorf("unknown marker +%s%s=%s", reconcilerMarker, rest, value)
	}
	if value != "" {
		list += "=" + value
	}
	for part := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if err := o.set(name, value); err != nil {
			return fmt.Errorf("marker +%s:%s: %w", reconcilerMarker, list, err)
		}
	}
	return nil
}

func (o *reconcilerOptions) set(name, value string) error {
	var err error
	switch name {
	case "class":
		if value == "" {
			return fmt.Errorf("class: an annotation's name is needed")
		}
		o.classKeys = append(o.classKeys, value)
	case "krshapedlogic":
		o.krShaped, err = flagOf(name, value)
	case "stubs":
		o.stubs, err = flagOf(name, value)
	default:
		return fmt.Errorf("unknown option %q, want class, krshapedlogic or stubs", name)
	}
	return err
}

// flagOf reads a value that may be left out if it is true.
func flagOf(name, value string) (bool, error) {
	switch value {
	case "", "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s: want true or false, got %q", name, value)
}
