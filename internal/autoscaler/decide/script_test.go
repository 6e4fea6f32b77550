// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the scripts print into testdata")

// TestScripts runs testdata/*.txt. Lines that begin with "> " are what the commands above them print.
//
//	params window=60s panic=6s target=10 ...   settings, kept for the commands that follow
//	start ready=0                              a new scaler
//	follow                                     from now on ready instances follow what is desired
//	load 25 30s [gateways=2]                   that concurrency, reported each second, decided every 2 s
//	silent 10s                                 no report from any gateway
//	gap                                        tell the scaler that measurements were lost
//	wake 3                                     requests wait: decide at once
//	ready 2                                    so many instances are ready now
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := runScript(t, want)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" && !*update {
				t.Errorf("-file +run (go test -update rewrites the file):\n%s", diff)
			}
		})
	}
}

func runScript(t *testing.T, script []byte) []byte {
	p := &player{t: t, params: defaults(), now: origin}
	lines := bufio.NewScanner(bytes.NewReader(script))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "> ") {
			continue
		}
		fmt.Fprintln(&p.out, line)
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(line, "#") {
			p.do(words[0], words[1:])
		}
	}
	return p.out.Bytes()
}

var origin = time.Unix(1_000_000, 0)

func defaults() Params {
	return Params{
		Total: 10, Target: 10, TargetBurstCapacity: 211, StableWindow: 60 * time.Second, PanicWindow: 6 * time.Second,
		PanicThreshold: 2, MaxScaleUpRate: 1000, MaxScaleDownRate: 2, Reachable: true,
	}
}

type player struct {
	t            *testing.T
	out          bytes.Buffer
	params       Params
	scaler       *Scaler
	now          time.Time
	since, until time.Time
	ready        int32
	follow       bool
	last         Decision
}

func (p *player) do(command string, args []string) {
	switch command {
	case "params":
		p.setParams(args)
	case "start":
		p.ready = int32(p.number(strings.TrimPrefix(args[0], "ready=")))
		p.scaler = New(p.params)
		p.scaler.Begin(p.now, p.ready)
		p.since, p.until, p.last = p.now, p.now, Decision{Desired: -2}
	case "follow":
		p.follow = true
	case "load":
		p.load(args)
	case "silent":
		for range int(p.duration(args[0]) / time.Second) {
			p.now = p.now.Add(time.Second)
			p.tick()
		}
	case "gap":
		p.scaler.Hold(p.now, p.ready)
		p.since, p.until = p.now, p.now
	case "wake":
		p.since = p.now
		p.decide(int(p.number(args[0])))
	case "ready":
		p.ready = int32(p.number(args[0]))
	default:
		p.t.Fatalf("unknown command %q", command)
	}
}

func (p *player) load(args []string) {
	concurrency, gateways := p.number(args[0]), 1
	if len(args) > 2 {
		gateways = int(p.number(strings.TrimPrefix(args[2], "gateways=")))
	}
	for range int(p.duration(args[1]) / time.Second) {
		p.now = p.now.Add(time.Second)
		p.until = p.now
		for range gateways {
			p.scaler.Add(p.now, time.Second, concurrency)
		}
		p.tick()
	}
}

func (p *player) tick() {
	if p.now.Unix()%2 == 0 {
		p.decide(0)
	}
}

func (p *player) decide(waiting int) {
	d := p.scaler.Decide(Input{Now: p.now, Since: p.since, Until: p.until, Ready: p.ready, Waiting: waiting})
	if d.Desired != p.last.Desired || d.Panicking != p.last.Panicking {
		fmt.Fprintf(&p.out, "> %4.0fs ready=%d desired=%d stable=%.2f panic=%.2f burst=%.0f", p.now.Sub(origin).Seconds(),
			p.ready, d.Desired, d.Stable, d.Panic, d.ExcessBurst)
		if d.Panicking {
			fmt.Fprint(&p.out, " panicking")
		}
		fmt.Fprintln(&p.out)
	}
	p.last = d
	if p.follow && d.Desired != Unknown {
		p.ready = d.Desired
	}
}

func (p *player) setParams(args []string) {
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "window":
			p.params.StableWindow = p.duration(value)
		case "panic":
			p.params.PanicWindow = p.duration(value)
		case "target":
			p.params.Target = p.number(value)
		case "total":
			p.params.Total = p.number(value)
		case "burst":
			p.params.TargetBurstCapacity = p.number(value)
		case "threshold":
			p.params.PanicThreshold = p.number(value)
		case "up":
			p.params.MaxScaleUpRate = p.number(value)
		case "down":
			p.params.MaxScaleDownRate = p.number(value)
		case "activation":
			p.params.ActivationScale = int32(p.number(value))
		case "delay":
			p.params.ScaleDownDelay = p.duration(value)
		case "reachable":
			p.params.Reachable = value == "true"
		case "exponential":
			p.params.Algorithm = WeightedExponential
		default:
			p.t.Fatalf("unknown parameter %q", key)
		}
	}
	if p.scaler != nil {
		p.scaler.SetParams(p.params)
	}
}

func (p *player) number(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

func (p *player) duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		p.t.Fatal(err)
	}
	return d
}
