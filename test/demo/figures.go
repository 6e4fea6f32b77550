// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"weir.dev/test/harness"
)

// figures are what the demo measured.
type figures struct {
	apiReady, allReady, toZero time.Duration
	apps                       map[string]*appFigures
	instances                  []instances
	coldStarts                 []time.Duration
	resident                   int64   // bytes
	idleCPU                    float64 // cores
}

type appFigures struct {
	ready, warm, added, cold time.Duration
}

// instances is how many there were from that time on.
type instances struct {
	at    time.Duration
	count int
}

func (f *figures) app(name string) *appFigures {
	if f.apps == nil {
		f.apps = map[string]*appFigures{}
	}
	if f.apps[name] == nil {
		f.apps[name] = &appFigures{}
	}
	return f.apps[name]
}

func (f *figures) print(out io.Writer) {
	fmt.Fprintln(out, "\n== Figures")
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "service\tapply → Ready\twarm p50\tadded by the gateway\tcold start\t")
	for _, name := range apps {
		a := f.app(name)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t\n", name, ms(a.ready), ms(a.warm), ms(a.added), ms(a.cold))
	}
	t.Flush()
	t = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nprocess start → API ready\t%s\n", ms(f.apiReady))
	fmt.Fprintf(t, "process start → all ready\t%s\n", ms(f.allReady))
	fmt.Fprintf(t, "cold start, %d times, p50 / p95\t%s / %s\n", len(f.coldStarts), ms(harness.Quantile(f.coldStarts, 0.5)),
		ms(harness.Quantile(f.coldStarts, 0.95)))
	fmt.Fprintf(t, "last call → no instance\t%s\n", ms(f.toZero))
	fmt.Fprintf(t, "instances over time\t%s\n", timeline(f.instances))
	fmt.Fprintf(t, "resident memory of weir\t%d MB\n", f.resident>>20)
	fmt.Fprintf(t, "CPU of idle weir\t%.1f %% of a core\n", f.idleCPU*100)
	t.Flush()
}

func timeline(list []instances) string {
	var parts []string
	for _, i := range list {
		parts = append(parts, fmt.Sprintf("%.0fs:%d", i.at.Seconds(), i.count))
	}
	return strings.Join(parts, " ")
}

func ms(d time.Duration) string {
	if d >= 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}
