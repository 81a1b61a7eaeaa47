package log

import (
	"bytes"
	"strconv"

	"mallow/internal/eventlog"
	"mallow/internal/recording"
	"mallow/internal/term"
)

// Schema names the keys and their meaning.
const Schema = "mallow.log/1"

// jsonLines are one object a line: first {"schema"}, then a call each, then
// {"warning"} for what is missing. Addresses are text, because they may be
// beyond what readers of JSON keep exactly. What is not known, or does not
// belong to the call, is not there.
type jsonLines struct {
	log    *eventlog.Log
	stacks bool
}

type jsonFrame struct {
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Module   string `json:"module,omitempty"`
}

func (j *jsonLines) head(b []byte) []byte {
	return append(b, `{"schema":"`+Schema+"\"}\n"...)
}

// describe prepares the keys that are the same for every event of the call.
func (j *jsonLines) describe(c *call) {
	name := marshal(c.name)
	c.before = append(append([]byte(`"call":`), name...), ',')
	var same struct {
		jsonFrame
		Stack *[]jsonFrame `json:"stack,omitempty"`
	}
	same.jsonFrame = jsonFrame(c.site)
	if j.stacks {
		frames := make([]jsonFrame, len(c.stack))
		for i := range c.stack {
			frames[i] = jsonFrame(c.stack[i])
		}
		same.Stack = &frames
	}
	c.behind = append(marshal(same)[1:], '\n')
	if len(c.behind) > 2 {
		c.behind = append([]byte{','}, c.behind...)
	}
}

func marshal(v any) []byte {
	text, err := term.JSON(v, "")
	if err != nil {
		return []byte("{}") // of strings and numbers alone there is no error
	}
	return bytes.TrimSuffix(text, []byte{'\n'})
}

func (j *jsonLines) event(b []byte, e *eventlog.Event, c *call) []byte {
	b = append(b, '{')
	b = append(b, c.before...)
	b = append(b, `"process":`...)
	b = strconv.AppendUint(b, e.Image.PID, 10)
	b = append(b, `,"thread":`...)
	b = strconv.AppendUint(b, uint64(e.Thread), 10)
	b = append(b, `,"time":`...)
	b = strconv.AppendFloat(b, j.log.Seconds(e), 'f', 9, 64)
	if asks(e) && e.Size != eventlog.UnknownSize {
		b = append(b, `,"size":`...)
		b = strconv.AppendUint(b, e.Size, 10)
	}
	b = j.argument(b, e, c.called)
	if e.Kind == eventlog.Death || e.Kind == eventlog.Move {
		b = address(b, `,"old":"0x`, e.Old)
	}
	switch e.Kind {
	case eventlog.Birth, eventlog.Move:
		b = address(b, `,"address":"0x`, e.Address)
	case eventlog.Failure:
		b = append(b, `,"address":null`...)
	case eventlog.NullRelease:
		b = append(b, `,"old":null`...)
	}
	return append(b, c.behind...)
}

func address(b []byte, key string, value uint64) []byte {
	b = append(b, key...)
	b = strconv.AppendUint(b, value, 16)
	return append(b, '"')
}

func (j *jsonLines) argument(b []byte, e *eventlog.Event, f recording.Function) []byte {
	switch f.Group() {
	case recording.GroupCalloc:
		if e.Kind == eventlog.Birth {
			b = append(b, `,"count":`...)
			b = strconv.AppendUint(b, max(1, e.Argument), 10)
		}
	case recording.GroupStrdup, recording.GroupWcsdup:
		if e.Argument != 0 {
			b = address(b, `,"source":"0x`, e.Argument)
		}
	default:
		if e.Argument != 0 {
			b = append(b, `,"alignment":`...)
			b = strconv.AppendUint(b, e.Argument, 10)
		}
	}
	return b
}

func (j *jsonLines) note(b []byte, text string) []byte {
	return append(append(b, marshal(struct {
		Warning string `json:"warning"`
	}{text})...), '\n')
}
