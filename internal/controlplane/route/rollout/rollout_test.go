// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var start = time.Unix(1_000_000_000, 0)

// shares writes a state in short: old=90 new=10.
func shares(s State) string {
	var out []string
	for _, c := range s.Configurations {
		for _, r := range c.Revisions {
			out = append(out, fmt.Sprintf("%s=%d", r.RevisionName, r.Percent))
		}
	}
	return strings.Join(out, " ")
}

func goal(revision string, percent int) []Goal {
	return []Goal{{ConfigurationName: "app", RevisionName: revision, Percent: percent}}
}

// move is one call of Next, after seconds.
type move struct {
	after      int // since the call before
	revision   string
	percent    int
	duration   int
	unready    bool
	short      bool
	want       string
	wantToWait time.Duration
}

// TestNext follows a share through time.
func TestNext(t *testing.T) {
	tests := map[string]struct {
		reason string
		moves  []move
	}{
		"NothingBefore": {
			reason: "the first Revision has all at once",
			moves:  []move{{revision: "one", percent: 100, duration: 10, want: "one=100"}},
		},
		"NoDuration": {
			reason: "without time it moves at once, and nothing is remembered",
			moves: []move{
				{revision: "one", percent: 100, duration: 10, want: "one=100"},
				{revision: "two", percent: 100, want: ""},
			},
		},
		"Rollout": {
			reason: "1 %, then equal steps, each as long as the new Revision needed to serve",
			moves: []move{
				{revision: "one", percent: 100, duration: 10, want: "one=100"},
				{revision: "two", percent: 100, duration: 10, want: "one=99 two=1"},
				{after: 2, revision: "two", percent: 100, duration: 10, want: "one=99 two=1", wantToWait: 2 * time.Second},
				{after: 1, revision: "two", percent: 100, duration: 10, want: "one=99 two=1", wantToWait: time.Second},
				{after: 1, revision: "two", percent: 100, duration: 10, want: "one=74 two=26", wantToWait: 2 * time.Second},
				{after: 2, revision: "two", percent: 100, duration: 10, want: "one=49 two=51", wantToWait: 2 * time.Second},
				{after: 2, revision: "two", percent: 100, duration: 10, want: "one=24 two=76", wantToWait: 2 * time.Second},
				{after: 2, revision: "two", percent: 100, duration: 10, want: "two=100"},
			},
		},
		"NotProgrammed": {
			reason: "a step waits until the one before is served",
			moves: []move{
				{revision: "one", percent: 100, duration: 4, want: "one=100"},
				{revision: "two", percent: 100, duration: 4, want: "one=99 two=1"},
				{after: 60, revision: "two", percent: 100, duration: 4, unready: true, want: "one=99 two=1"},
			},
		},
		"NotProgrammedAnyMore": {
			reason: "nor does time bring a step whose turn it is meanwhile",
			moves: []move{
				{revision: "one", percent: 100, duration: 4, want: "one=100"},
				{revision: "two", percent: 100, duration: 4, want: "one=99 two=1"},
				{after: 1, revision: "two", percent: 100, duration: 4, want: "one=99 two=1", wantToWait: time.Second},
				{after: 60, revision: "two", percent: 100, duration: 4, unready: true, want: "one=99 two=1"},
				{after: 1, revision: "two", percent: 100, duration: 4, want: "one=66 two=34", wantToWait: time.Second},
			},
		},
		"Short": {
			reason: "traffic comes only as fast as instances do",
			moves: []move{
				{revision: "one", percent: 100, duration: 4, want: "one=100"},
				{revision: "two", percent: 100, duration: 4, want: "one=99 two=1"},
				{after: 1, revision: "two", percent: 100, duration: 4, want: "one=99 two=1", wantToWait: time.Second},
				{after: 9, revision: "two", percent: 100, duration: 4, short: true, want: "one=99 two=1"},
				{after: 1, revision: "two", percent: 100, duration: 4, want: "one=66 two=34", wantToWait: time.Second},
			},
		},
		"Third": {
			reason: "a third one takes from the second, and time begins anew",
			moves: []move{
				{revision: "one", percent: 100, duration: 100, want: "one=100"},
				{revision: "two", percent: 100, duration: 100, want: "one=99 two=1"},
				{after: 50, revision: "two", percent: 100, duration: 100, want: "one=99 two=1", wantToWait: 50 * time.Second},
				{after: 0, revision: "three", percent: 100, duration: 100, want: "one=99 three=1"},
			},
		},
		"Back": {
			reason: "one that was the newest before keeps what it has",
			moves: []move{
				{revision: "one", percent: 100, duration: 100, want: "one=100"},
				{revision: "two", percent: 100, duration: 100, want: "one=99 two=1"},
				{revision: "one", percent: 100, duration: 100, want: "two=1 one=99"},
			},
		},
		"Grows": {
			reason: "what the Configuration gets more goes to the newest",
			moves: []move{
				{revision: "one", percent: 50, duration: 100, want: "one=50"},
				{revision: "two", percent: 50, duration: 100, want: "one=49 two=1"},
				{revision: "two", percent: 70, duration: 100, want: "one=49 two=21", wantToWait: 1434782608},
			},
		},
		"Shrinks": {
			reason: "what it loses, the oldest loses",
			moves: []move{
				{revision: "one", percent: 50, duration: 100, want: "one=50"},
				{revision: "two", percent: 50, duration: 100, want: "one=49 two=1"},
				{revision: "two", percent: 20, duration: 100, want: "one=19 two=1"},
			},
		},
		"Tiny": {
			reason: "one percent cannot be divided",
			moves: []move{
				{revision: "one", percent: 1, duration: 100, want: "one=1"},
				{revision: "two", percent: 1, duration: 100, want: "two=1"},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			state, now := State{}, start
			for i, m := range tc.moves {
				now = now.Add(time.Duration(m.after) * time.Second)
				goals := goal(m.revision, m.percent)
				goals[0].Short = m.short
				state = state.Next(goals, Input{
					Now: now, Duration: time.Duration(m.duration) * time.Second, Programmed: !m.unready,
				})
				if got := shares(state); got != m.want {
					t.Fatalf("%s: move %d gives %q, want %q", tc.reason, i, got, m.want)
				}
				if got := state.Wait(now); m.wantToWait != 0 && got != m.wantToWait {
					t.Errorf("%s: move %d waits %v, want %v", tc.reason, i, got, m.wantToWait)
				}
			}
		})
	}
}

// TestAllDurationsEnd: whatever the share, the time and how long the Revision needs, parts always sum to the share, the newest
// one never loses, and it ends.
func TestAllDurationsEnd(t *testing.T) {
	for _, percent := range []int{2, 3, 33, 99, 100} {
		for _, duration := range []time.Duration{time.Second, 7 * time.Second, time.Minute, time.Hour} {
			for _, slow := range []time.Duration{0, 3 * time.Second, 2 * time.Minute} {
				now := start
				in := func() Input { return Input{Now: now, Duration: duration, Programmed: true} }
				state := State{}.Next(goal("one", percent), in()).Next(goal("two", percent), in())
				now = now.Add(slow)
				last := 0
				for steps := 0; state.InProgress(); steps++ {
					state = state.Next(goal("two", percent), in())
					revisions := state.Configurations[0].Revisions
					sum, newest := 0, revisions[len(revisions)-1].Percent
					for _, r := range revisions {
						sum += r.Percent
					}
					if sum != percent || newest < last || steps > 2*percent+2 {
						t.Fatalf("%d %% in %v, %v to serve: %s after %d steps", percent, duration, slow, shares(state), steps)
					}
					last = newest
					now = now.Add(max(state.Wait(now), time.Nanosecond))
				}
			}
		}
	}
}

// TestAnnotation: a state comes back as it was written, in the public form.
func TestAnnotation(t *testing.T) {
	const text = `{"configurations":[{"configurationName":"app","tag":"t","percent":100,` +
		`"revisions":[{"revisionName":"one","percent":74},{"revisionName":"two","percent":26}],` +
		`"stepParams":{"starttime":1,"nextStepTime":2,"stepDuration":3,"stepSize":25}}]}`
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text, s.String()); d != "" {
		t.Errorf("String (-want +got):\n%s", d)
	}
	if c := s.Of("app", "t"); c == nil || c.Step.StepSize != 25 {
		t.Errorf("Of gives %v", c)
	}
	if s, err := Parse("{"); err == nil || s.InProgress() {
		t.Errorf("Parse of no JSON: %v, %v", s, err)
	}
	if s := (State{}).String(); s != "" {
		t.Errorf("nothing is written as %q", s)
	}
}
