// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"weir.dev/pkg/configmap"
	"weir.dev/pkg/controller"
)

var errNoSet = errors.New("the context holds neither the dependency nor a set; " +
	"make one with injection.Default.SetupInformers or injection.Fake.SetupInformers")

// DependencyError says that an accessor could not give what it is for.
type DependencyError struct {
	// Accessor is the package whose Get was called.
	Accessor string
	// Caller is the function that called it, outside generated packages.
	Caller string
	// Err is the reason.
	Err error
}

func newDependencyError(key any, err error) *DependencyError {
	return &DependencyError{Accessor: accessorOf(key), Caller: caller(), Err: err}
}

// Error implements error.
func (e *DependencyError) Error() string {
	return fmt.Sprintf("%s asked %s: %v", e.Caller, e.Accessor, e.Err)
}

// Unwrap returns the reason.
func (e *DependencyError) Unwrap() error { return e.Err }

// caller names the innermost function on the stack that is no accessor: their
// packages, and this one, lie below a folder called injection.
func caller() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		if pkg := packageOf(frame.Function); !strings.Contains(pkg+"/", "/injection/") && pkg != "runtime" {
			return frame.Function
		}
		if !more {
			return "somebody"
		}
	}
}

// packageOf cuts a function's name after its package path.
func packageOf(function string) string {
	slash := strings.LastIndex(function, "/") + 1
	dot := strings.Index(function[slash:], ".")
	if dot < 0 {
		return function
	}
	return function[:slash+dot]
}

// Construct calls a constructor. A dependency that it asks for in vain becomes
// an error that names the accessor and the constructor.
func Construct(ctx context.Context, ctor ControllerConstructor, cmw configmap.Watcher) (impl *controller.Impl, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *DependencyError:
			err = fmt.Errorf("constructing the controller of %s: %w", nameOf(ctor), r)
		default:
			panic(r)
		}
	}()
	if impl = ctor(ctx, cmw); impl == nil {
		return nil, fmt.Errorf("constructing the controller of %s: it returned nil", nameOf(ctor))
	}
	return impl, nil
}

func nameOf(ctor ControllerConstructor) string {
	return runtime.FuncForPC(reflect.ValueOf(ctor).Pointer()).Name()
}
