// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package rollout moves the share of a Configuration from its earlier Revisions to its newest one step by step (facts.md 4.7).
// It decides from a state, a time and what is programmed, and keeps neither clock nor objects. Only package route imports it.
package rollout

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// State is what is under way, as the Ingress of a Route keeps it in an annotation.
type State struct {
	Configurations []Configuration `json:"configurations,omitempty"`
}

// Configuration is the share of one Configuration in one group of a Route, and how it is dealt.
type Configuration struct {
	ConfigurationName string `json:"configurationName"`
	Tag               string `json:"tag,omitempty"`
	// Percent is the share of the group's requests.
	Percent int `json:"percent"`
	// Revisions have parts of it, oldest first; the last one is the newest.
	Revisions []Revision `json:"revisions,omitempty"`
	Step      Step       `json:"stepParams,omitzero"`

	// held says that a step is due and waits for something else than time.
	held bool
}

// Revision is one with its part of the share, in percent of the group's requests.
type Revision struct {
	RevisionName string `json:"revisionName"`
	Percent      int    `json:"percent"`
}

// Step says how a rollout goes on; times are nanoseconds since 1970, or long.
type Step struct {
	StartTime    int64 `json:"starttime,omitempty"`
	NextStepTime int64 `json:"nextStepTime,omitempty"`
	StepDuration int64 `json:"stepDuration,omitempty"`
	StepSize     int   `json:"stepSize,omitempty"`
}

// Goal is where a share is to go.
type Goal struct {
	ConfigurationName, Tag, RevisionName string
	Percent                              int
	// Short says that the Revision has fewer instances ready than its present part needs.
	Short bool
}

// Input is what the next state depends on besides state and goals.
type Input struct {
	Now time.Time
	// Duration is how long a rollout takes in all; 0 is no time.
	Duration time.Duration
	// Programmed tells whether requests go as the state says already, which includes that there is who answers them.
	Programmed bool
}

// Parse reads a state; "" is none. What cannot be read is an error, and none as well.
func Parse(text string) (State, error) {
	var s State
	if text == "" {
		return s, nil
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return State{}, fmt.Errorf("reading the state of rollouts: %w", err)
	}
	return s, nil
}

// String is the state as Parse reads it; "" without a rollout or anything to remember.
func (s State) String() string {
	if len(s.Configurations) == 0 {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("rollout: numbers and strings do not marshal: %v", err)) // they always do
	}
	return string(text)
}

// Of returns the share of a Configuration in a group, nil if there is none.
func (s State) Of(configuration, tag string) *Configuration {
	i := slices.IndexFunc(s.Configurations, func(c Configuration) bool {
		return c.ConfigurationName == configuration && c.Tag == tag
	})
	if i < 0 {
		return nil
	}
	return &s.Configurations[i]
}

// InProgress tells whether more than one Revision has a part of some share.
func (s State) InProgress() bool {
	return slices.ContainsFunc(s.Configurations, func(c Configuration) bool { return len(c.Revisions) > 1 })
}

// Wait returns how long from now nothing changes by time alone; 0 where no step is due at a known time.
func (s State) Wait(now time.Time) time.Duration {
	var wait time.Duration
	for _, c := range s.Configurations {
		if next := c.Step.NextStepTime; len(c.Revisions) > 1 && next != 0 && !c.held {
			left := max(time.Unix(0, next).Sub(now), time.Nanosecond)
			if wait == 0 || left < wait {
				wait = left
			}
		}
	}
	return wait
}

// Next returns the state that follows s. Without a duration nothing is remembered.
func (s State) Next(goals []Goal, in Input) State {
	var next State
	if in.Duration <= 0 {
		return next
	}
	for _, g := range goals {
		next.Configurations = append(next.Configurations, s.Of(g.ConfigurationName, g.Tag).next(g, in))
	}
	return next
}
