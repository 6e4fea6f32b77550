// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// counts are numbers by resource, and for writes by verb.
type counts map[string]float64

// usage is what the API server did since it started: what it created and wrote, and what it refused to write.
type usage struct {
	created, writes, refused counts
}

// quiet returns the numbers once nothing but leases and events was written for a while.
func (b *bench) quiet(ctx context.Context) (usage, error) {
	const calm = 3 * time.Second
	last, err := b.usage(ctx)
	if err != nil {
		return last, err
	}
	for since := time.Now(); time.Since(since) < calm; {
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-time.After(calm / 10):
		}
		now, err := b.usage(ctx)
		if err != nil {
			return now, err
		}
		if now.writes.sum() != last.writes.sum() {
			since = time.Now()
		}
		last = now
	}
	return last, nil
}

// usage reads the API server's metrics.
func (b *bench) usage(ctx context.Context) (usage, error) {
	raw, err := b.system.Kube.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return usage{}, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(raw))
	if err != nil {
		return usage{}, fmt.Errorf("metrics of the API server: %w", err)
	}
	u := usage{created: counts{}, writes: counts{}, refused: counts{}}
	for _, m := range families["apiserver_request_total"].GetMetric() {
		u.add(m)
	}
	return u, nil
}

// add counts one series of requests, if they write.
func (u *usage) add(m *dto.Metric) {
	verb, resource, n := label(m, "verb"), label(m, "resource"), m.GetCounter().GetValue()
	group, sub := label(m, "group"), label(m, "subresource")
	if group != "" {
		resource += "." + group
	}
	switch {
	case verb != "POST" && verb != "PUT" && verb != "PATCH" && verb != "APPLY" && verb != "DELETE":
	case label(m, "dry_run") != "" || group == "authorization.k8s.io" || group == "authentication.k8s.io" || group == "coordination.k8s.io":
	case !strings.HasPrefix(label(m, "code"), "2"):
		u.refused[verb+" "+resource] += n
	case sub != "":
		u.writes[verb+" "+resource+"/"+sub] += n
	default:
		u.writes[verb+" "+resource] += n
		if verb == "POST" {
			u.created[resource] += n
		}
	}
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// isEvent says whether a key of counts is about events, which come and go.
func isEvent(key string) bool { return strings.Contains(key, "events") }

// sum is without events.
func (c counts) sum() float64 {
	total := 0.0
	for key, n := range c {
		if !isEvent(key) {
			total += n
		}
	}
	return total
}

func (c counts) minus(other counts) counts {
	left := counts{}
	for key, n := range c {
		if n != other[key] {
			left[key] = n - other[key]
		}
	}
	return left
}

// print prints the sum without events, and then each, per n.
func (c counts) print(out io.Writer, what string, n float64) {
	fmt.Fprintf(out, "  %-34s %8.2f\n", what+", but for events and leases", c.sum()/n)
	for _, key := range slices.Sorted(maps.Keys(c)) {
		if each := c[key] / n; each >= 0.005 {
			fmt.Fprintf(out, "    %-34s %8.2f\n", key, each)
		}
	}
}
