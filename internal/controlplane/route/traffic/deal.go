// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"fmt"

	apierrs "k8s.io/apimachinery/pkg/api/errors"

	"weir.dev/internal/controlplane/route/rollout"
)

// Deal divides targets that follow a Configuration among its Revisions, as state says. A Revision that cannot serve any more
// leaves its part to the newest.
func (p *Plan) Deal(state rollout.State, look Lookup) error {
	p.Rollout = state.String()
	if !state.InProgress() {
		return nil
	}
	for tag, group := range p.Groups {
		var dealt []Target
		for _, t := range group {
			parts, err := deal(t, state.Of(t.ConfigurationName, tag), look)
			if err != nil {
				return err
			}
			dealt = append(dealt, parts...)
		}
		p.Groups[tag] = dealt
	}
	return p.dealTargets(state, look)
}

// dealTargets does the same for what the status is to say, which goes by the main host. Of several targets that share a
// Configuration there it cannot be said which moves; they stay as they are.
func (p *Plan) dealTargets(state rollout.State, look Lookup) error {
	var dealt []Target
	for _, t := range p.Targets {
		c := state.Of(t.ConfigurationName, "")
		if c != nil && c.Percent != int(t.Percent) {
			c = nil
		}
		parts, err := deal(t, c, look)
		if err != nil {
			return err
		}
		dealt = append(dealt, parts...)
	}
	p.Targets = dealt
	return nil
}

// deal divides one target, oldest Revision first.
func deal(t Target, c *rollout.Configuration, look Lookup) ([]Target, error) {
	if c == nil || t.ConfigurationName == "" || len(c.Revisions) < 2 {
		return []Target{t}, nil
	}
	var parts []Target
	newest, older := c.Revisions[len(c.Revisions)-1], c.Revisions[:len(c.Revisions)-1]
	t.Percent = int64(newest.Percent)
	for _, r := range older {
		rev, err := look.Revision(r.RevisionName)
		switch {
		case apierrs.IsNotFound(err), err == nil && !rev.IsReady():
			t.Percent += int64(r.Percent)
		case err != nil:
			return nil, fmt.Errorf("getting Revision %q: %w", r.RevisionName, err)
		default:
			parts = append(parts, Target{
				RevisionName: r.RevisionName, ConfigurationName: t.ConfigurationName,
				Percent: int64(r.Percent), Protocol: rev.GetProtocol(),
			})
		}
	}
	return append(parts, t), nil
}
