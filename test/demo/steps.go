// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	servingv1 "weir.dev/api/serving/v1"
	"weir.dev/test/harness"
)

const namespace = "default"

// apps are the three examples: a Go program, a slow-starting one, and a directory with a program that is not Go.
var apps = []string{"hello", "slow", "static"}

// buildImages packs the examples with Weir's own builder; it needs no running Weir.
func (d *demo) buildImages(ctx context.Context) error {
	d.say("Make images with weir image build")
	root, err := d.staticRoot()
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	builds := [][]string{
		{filepath.Join(d.examples, "hello"), "--tag", "weir.local/hello"},
		{filepath.Join(d.examples, "slow"), "--tag", "weir.local/slow"},
		{root, "--tag", "weir.local/static", "--entrypoint", "/bin/busybox,httpd,-f,-p,8000,-h,/www"},
	}
	for _, args := range builds {
		args = append([]string{"image", "build", "--data-dir", d.dataDir}, args...)
		cmd := exec.CommandContext(ctx, d.binary, args...)
		cmd.Stdout, cmd.Stderr = d.out, d.out
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("weir %s: %w", strings.Join(args, " "), err)
		}
	}
	return nil
}

// staticRoot copies the static example together with Debian's static busybox.
func (d *demo) staticRoot() (string, error) {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return "", fmt.Errorf("busybox for the static example: %w", err)
	}
	root, err := os.MkdirTemp("", "weir-static-")
	if err != nil {
		return "", err
	}
	err = os.CopyFS(root, os.DirFS(filepath.Join(d.examples, "static", "root")))
	if err == nil {
		err = os.MkdirAll(filepath.Join(root, "bin"), 0o755)
	}
	if err == nil {
		err = copyFile(busybox, filepath.Join(root, "bin", "busybox"))
	}
	return root, errors.Join(err, os.Chmod(root, 0o755))
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// start runs weir up, measures until its API answers, and connects.
func (d *demo) start(ctx context.Context) (err error) {
	d.say("Start Weir")
	begin := time.Now()
	if d.weir, err = harness.Start(d.binary, d.dataDir, io.MultiWriter(d.out, d.log), "--domain", "localhost"); err != nil {
		return err
	}
	err = harness.Eventually(ctx, "API ready", func(ctx context.Context) (bool, error) {
		return apiReady(ctx, d.weir.Kubeconfig())
	})
	if err != nil {
		return err
	}
	d.figures.apiReady = time.Since(begin)
	if err := d.weir.WaitReady(ctx); err != nil {
		return err
	}
	d.figures.allReady = time.Since(begin)
	if d.system, err = harness.Connect(d.weir.Kubeconfig(), ""); err != nil {
		return err
	}
	return d.shortenGrace(ctx)
}

func apiReady(ctx context.Context, kubeconfig string) (bool, error) {
	s, err := harness.Connect(kubeconfig, "")
	if err != nil {
		return false, err
	}
	err = s.Kube.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	return err == nil, err
}

// shortenGrace lets the demo see zero within seconds; the default waits for 30 s after the window.
func (d *demo) shortenGrace(ctx context.Context) error {
	return d.system.SetConfig(ctx, "config-autoscaler", map[string]string{"scale-to-zero-grace-period": "1s"})
}

// deploy applies the examples' YAML and waits for each to be Ready.
func (d *demo) deploy(ctx context.Context) error {
	d.say("Deploy: %s", strings.Join(apps, ", "))
	for _, app := range apps {
		svc, err := harness.ReadService(filepath.Join(d.examples, app, "service.yaml"))
		if err != nil {
			return err
		}
		begin := time.Now()
		if _, err := d.create(ctx, svc); err != nil {
			return err
		}
		ready, err := d.system.WaitService(ctx, namespace, svc.Name)
		if err != nil {
			return err
		}
		d.figures.app(app).ready = time.Since(begin)
		fmt.Fprintf(d.out, "%-8s Ready after %v at %s\n", app, time.Since(begin).Round(time.Millisecond), ready.Status.URL)
	}
	return nil
}

func (d *demo) create(ctx context.Context, svc *servingv1.Service) (*servingv1.Service, error) {
	return d.system.Serving.ServingV1().Services(namespace).Create(ctx, svc, metav1.CreateOptions{})
}

// call shows that each answers, and measures the warm latency against the instance itself.
func (d *demo) call(ctx context.Context) error {
	d.say("Call them")
	for _, app := range apps {
		answer, err := d.callApp(ctx, app)
		if err != nil {
			return err
		}
		fmt.Fprintf(d.out, "%-8s %s\n", app, firstLine(answer.Body))
		if err := d.measureWarm(ctx, app); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) callApp(ctx context.Context, app string) (harness.Answer, error) {
	url, err := d.url(ctx, app)
	if err != nil {
		return harness.Answer{}, err
	}
	return d.expectOK(ctx, url)
}

func (d *demo) url(ctx context.Context, app string) (string, error) {
	svc, err := d.system.Serving.ServingV1().Services(namespace).Get(ctx, app, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return svc.Status.URL.String(), nil
}

func (d *demo) expectOK(ctx context.Context, url string) (harness.Answer, error) {
	answer, err := d.system.Get(ctx, url)
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("GET %s: status %d: %s", url, answer.Status, firstLine(answer.Body))
	}
	return answer, err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// scaleToZero follows the instances until none is left.
func (d *demo) scaleToZero(ctx context.Context) error {
	d.say("Wait for zero")
	begin := time.Now()
	last := -1
	err := harness.Eventually(ctx, "scale to zero", func(ctx context.Context) (bool, error) {
		pods, err := d.system.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		if n := len(pods.Items); n != last {
			last = n
			d.figures.instances = append(d.figures.instances, instances{time.Since(begin), n})
			fmt.Fprintf(d.out, "%6.1f s  %d instances\n", time.Since(begin).Seconds(), n)
		}
		return last == 0, nil
	})
	d.figures.toZero = time.Since(begin)
	return err
}

// wake calls each example again: the request waits for its instance.
func (d *demo) wake(ctx context.Context) error {
	d.say("Call them again, from zero")
	for _, app := range apps {
		answer, err := d.callApp(ctx, app)
		if err != nil {
			return err
		}
		d.figures.app(app).cold = answer.Took
		fmt.Fprintf(d.out, "%-8s answered after %v\n", app, answer.Took.Round(time.Millisecond))
	}
	return nil
}
