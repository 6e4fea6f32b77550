// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"fmt"

	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
)

// Actions are API requests by what they do.
type Actions struct {
	Gets              []clientgotesting.GetAction
	Creates           []clientgotesting.CreateAction
	Updates           []clientgotesting.UpdateAction
	Deletes           []clientgotesting.DeleteAction
	DeleteCollections []clientgotesting.DeleteCollectionAction
	Patches           []clientgotesting.PatchAction

	writes []clientgotesting.Action // all but the gets
}

// ActionRecorder records API requests; fake clients do.
type ActionRecorder interface {
	Actions() []clientgotesting.Action
}

// ActionRecorderList are the recorders of several clients.
type ActionRecorderList []ActionRecorder

// ActionsByVerb sorts what was recorded. A verb that is not known is an error;
// list and watch are not counted.
func (l ActionRecorderList) ActionsByVerb() (Actions, error) {
	var a Actions
	var unknown error
	for _, recorder := range l {
		for _, action := range recorder.Actions() {
			if !a.add(action) {
				unknown = fmt.Errorf("unexpected verb %q: %+v", action.GetVerb(), action)
			}
		}
	}
	return a, unknown
}

func (a *Actions) add(action clientgotesting.Action) bool {
	switch action.GetVerb() {
	case "list", "watch":
		return true
	case "get":
		a.Gets = append(a.Gets, action.(clientgotesting.GetAction))
		return true
	case "create":
		a.Creates = append(a.Creates, action.(clientgotesting.CreateAction))
	case "update":
		a.Updates = append(a.Updates, action.(clientgotesting.UpdateAction))
	case "delete":
		a.Deletes = append(a.Deletes, action.(clientgotesting.DeleteAction))
	case "delete-collection", "deletecollection":
		a.DeleteCollections = append(a.DeleteCollections, action.(clientgotesting.DeleteCollectionAction))
	case "patch":
		a.Patches = append(a.Patches, action.(clientgotesting.PatchAction))
	default:
		return false
	}
	a.writes = append(a.writes, action)
	return true
}

// EventList is where a reconciler's events are.
type EventList struct {
	// Recorder has the events; it must hold all that one run makes.
	Recorder *record.FakeRecorder
}

// Events takes the events that were recorded since it was last called.
func (l EventList) Events() []string {
	var events []string
	for l.Recorder != nil {
		select {
		case e := <-l.Recorder.Events:
			events = append(events, e)
			continue
		default:
		}
		break
	}
	return events
}

// Eventf is an event as EventList has it.
func Eventf(eventType, reason, messageFmt string, args ...any) string {
	return fmt.Sprintf("%s %s %s", eventType, reason, fmt.Sprintf(messageFmt, args...))
}
