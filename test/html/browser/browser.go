// Package browser drives a headless Chromium through the DevTools protocol, as
// far as tests of pages need it. The protocol goes through two pipes: that
// needs no port that others could reach, and no library for WebSockets with
// all of the protocol in generated code, of which these tests use a dozen
// methods.
package browser

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const patience = 5 * time.Minute

// Browser is the Chromium of a test's process: it takes longer to start than
// most tests take with a page of it.
type Browser struct {
	command *exec.Cmd
	folder  string // of its profile
	to      *os.File

	mu      sync.Mutex
	last    int
	replies map[int]chan reply
	pages   map[string]*Page
	ended   chan struct{}
}

type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

type message struct {
	reply
	ID      int             `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Session string          `json:"sessionId"`
}

var (
	isMain   bool
	starting sync.Once
	shared   *Browser
	failed   error
)

// Main runs the tests of a package that opens pages, and ends the browser if
// one of them started it.
func Main(m *testing.M) {
	isMain = true
	status := m.Run()
	if shared != nil {
		shared.stop()
	}
	os.Exit(status)
}

// theBrowser returns that of the process, or skips the test where there is none.
func theBrowser(t *testing.T) *Browser {
	t.Helper()
	if !isMain {
		t.Fatal("browser.Main is to run the tests of this package: nobody would end the browser")
	}
	if find() == "" {
		t.Skip("chromium is not installed: pages are not looked at (apt-get install chromium; in Ubuntu snap install chromium)")
	}
	if starting.Do(func() { shared, failed = start(find()) }); failed != nil {
		t.Fatal(failed)
	}
	return shared
}

func start(program string) (*Browser, error) {
	folder, err := os.MkdirTemp("", "mallow-chromium")
	if err != nil {
		return nil, err
	}
	arguments := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + folder, "--no-first-run", "--disable-gpu",
		"--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
		"--force-color-profile=srgb", "--hide-scrollbars",
	}
	if os.Getuid() == 0 {
		arguments = append(arguments, "--no-sandbox") // it refuses to run as root with one
	}
	b := &Browser{command: exec.Command(program, arguments...), folder: folder,
		replies: make(map[int]chan reply), pages: make(map[string]*Page), ended: make(chan struct{})}
	complaints, err := os.Create(b.complaints())
	if err != nil {
		return nil, err
	}
	defer complaints.Close()
	toBrowser, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer toBrowser.Close()
	from, fromBrowser, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer fromBrowser.Close()
	b.command.ExtraFiles = []*os.File{toBrowser, fromBrowser} // 3 and 4
	b.command.Stderr = complaints
	b.to = to
	if err := b.command.Start(); err != nil {
		return nil, err
	}
	go b.read(from)
	return b, nil
}

func (b *Browser) complaints() string { return filepath.Join(b.folder, "stderr") }

func (b *Browser) stop() {
	b.call("", "Browser.close", nil, nil)
	exited := make(chan struct{})
	go func() {
		b.command.Wait()
		close(exited)
	}()
	select {
	case <-exited:
	case <-time.After(10 * time.Second):
		b.command.Process.Kill()
		<-exited
	}
	b.to.Close()
	os.RemoveAll(b.folder)
}

// find returns a browser that runs: what Ubuntu's package of that name brings says no more than which snap to install.
var find = sync.OnceValue(func() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && exec.Command(path, "--version").Run() == nil {
			return path
		}
	}
	return ""
})

func tail(text string) string { return text[max(0, len(text)-2000):] }

// read hands replies to those who wait, and events to their pages.
func (b *Browser) read(from *os.File) {
	defer close(b.ended)
	lines := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := lines.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &m) != nil {
			continue
		}
		b.mu.Lock()
		waiting, page := b.replies[m.ID], b.pages[m.Session]
		delete(b.replies, m.ID)
		b.mu.Unlock()
		switch {
		case waiting != nil:
			waiting <- m.reply
		case page != nil && m.Method != "":
			page.note(m.Method, m.Params)
		}
	}
}

// call sends a method and waits for what it returns.
func (b *Browser) call(session, method string, params, result any) error {
	b.mu.Lock()
	b.last++
	id, answer := b.last, make(chan reply, 1)
	b.replies[id] = answer
	request := map[string]any{"id": id, "method": method, "params": params}
	if params == nil {
		request["params"] = struct{}{}
	}
	if session != "" {
		request["sessionId"] = session
	}
	line, err := json.Marshal(request)
	if err == nil {
		_, err = b.to.Write(append(line, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			return fmt.Errorf("%s: %s", method, r.Error.Message)
		}
		if result != nil {
			return json.Unmarshal(r.Result, result)
		}
		return nil
	case <-b.ended:
		return fmt.Errorf("%s: chromium has ended", method)
	case <-time.After(patience):
		return fmt.Errorf("%s: no answer within %v", method, patience)
	}
}

// Page is a tab.
type Page struct {
	t       *testing.T
	browser *Browser
	session string

	mu       sync.Mutex
	problems []string // exceptions, errors on the console, violations of the policy
	requests []string // addresses, without the page's own
}

// Open opens an address in a window of 1280 by 800 and waits until it is
// loaded. Nothing is left of earlier pages: no cache, no storage.
func Open(t *testing.T, address string) *Page {
	t.Helper()
	b := theBrowser(t)
	p := &Page{t: t, browser: b}
	var context struct {
		BrowserContextID string `json:"browserContextId"`
	}
	p.must(b.call("", "Target.createBrowserContext", nil, &context))
	var target struct {
		TargetID string `json:"targetId"`
	}
	p.must(b.call("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID}, &target))
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	p.must(b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached))
	p.session = attached.SessionID
	b.mu.Lock()
	b.pages[p.session] = p
	b.mu.Unlock()
	t.Cleanup(func() {
		b.call("", "Target.disposeBrowserContext", map[string]any{"browserContextId": context.BrowserContextID}, nil)
		b.mu.Lock()
		delete(b.pages, p.session)
		b.mu.Unlock()
		if t.Failed() {
			said, _ := os.ReadFile(b.complaints())
			t.Logf("chromium said: %s", tail(string(said)))
		}
	})
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.Call(domain+".enable", nil, nil)
	}
	p.Size(1280, 800)
	p.Call("Page.navigate", map[string]any{"url": address}, nil)
	p.Wait(`document.readyState === "complete"`)
	return p
}

func (p *Page) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// Call calls a method of the protocol.
func (p *Page) Call(method string, params, result any) {
	p.t.Helper()
	p.must(p.browser.call(p.session, method, params, result))
}

func (p *Page) note(method string, params json.RawMessage) {
	problem := ""
	switch method {
	case "Runtime.exceptionThrown", "Page.javascriptDialogOpening":
		problem = string(params)
	case "Runtime.consoleAPICalled", "Log.entryAdded":
		var e struct {
			Type  string `json:"type"`
			Entry struct {
				Level string `json:"level"`
			} `json:"entry"`
		}
		json.Unmarshal(params, &e)
		if e.Type == "error" || e.Type == "assert" || e.Entry.Level == "error" || e.Entry.Level == "warning" {
			problem = string(params)
		}
	case "Network.requestWillBeSent":
		var e struct {
			Type    string `json:"type"`
			Request struct {
				URL string `json:"url"`
			} `json:"request"`
		}
		json.Unmarshal(params, &e)
		if e.Type != "Document" {
			p.mu.Lock()
			p.requests = append(p.requests, e.Request.URL)
			p.mu.Unlock()
		}
	}
	if problem != "" {
		p.mu.Lock()
		p.problems = append(p.problems, method+": "+problem)
		p.mu.Unlock()
	}
}

// Problems returns what went wrong in the page so far: exceptions, dialogs,
// errors on the console, among them what its policy forbade.
func (p *Page) Problems() []string {
	p.Eval("0", nil) // events so far have come before the answer
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.problems...)
}

// Requests returns what the page asked the network for, besides itself.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.requests...)
}

// Eval evaluates an expression, which may be a promise, into value.
func (p *Page) Eval(expression string, value any) {
	p.t.Helper()
	p.must(p.tryEval(expression, value))
}

func (p *Page) tryEval(expression string, value any) error {
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	err := p.browser.call(p.session, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if err != nil {
		return err
	}
	if r.Exception != nil {
		return fmt.Errorf("%s: %s %s", expression, r.Exception.Text, r.Exception.Exception.Description)
	}
	if value == nil || len(r.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(r.Result.Value, value)
}

// Text returns the text of the first element that a selector means.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	var text string
	p.Eval(fmt.Sprintf("document.querySelector(%s)?.innerText ?? ''", quoted(selector)), &text)
	return text
}

// Count returns how many elements a selector means.
func (p *Page) Count(selector string) int {
	p.t.Helper()
	var n int
	p.Eval(fmt.Sprintf("document.querySelectorAll(%s).length", quoted(selector)), &n)
	return n
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// Wait waits until an expression is true.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var is bool
		if err = p.tryEval("Boolean("+expression+")", &is); err == nil && is {
			return
		}
	}
	p.t.Fatalf("never came true: %s (%v)\n%s", expression, err, strings.Join(p.problems, "\n"))
}

// Click presses the mouse on the middle of the first element that a selector
// means.
func (p *Page) Click(selector string) {
	p.t.Helper()
	var at struct{ X, Y float64 }
	p.Eval(fmt.Sprintf(`(() => {
		const e = document.querySelector(%s);
		e.scrollIntoView({block: "center", inline: "center"});
		const b = e.getBoundingClientRect();
		return {X: b.left + b.width / 2, Y: b.top + b.height / 2};
	})()`, quoted(selector)), &at)
	p.ClickAt(at.X, at.Y)
}

// ClickAt presses the mouse at a point of the window.
func (p *Page) ClickAt(x, y float64) {
	p.t.Helper()
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		p.mouse(kind, x, y)
	}
}

// Drag presses the mouse at one point and lets it go at another.
func (p *Page) Drag(x0, y0, x1, y1 float64) {
	p.t.Helper()
	p.mouse("mouseMoved", x0, y0)
	p.mouse("mousePressed", x0, y0)
	for i := range 8 {
		f := float64(i+1) / 8
		p.mouse("mouseMoved", x0+(x1-x0)*f, y0+(y1-y0)*f)
	}
	p.mouse("mouseReleased", x1, y1)
}

func (p *Page) mouse(kind string, x, y float64) {
	p.t.Helper()
	event := map[string]any{"type": kind, "x": x, "y": y}
	if kind != "mouseMoved" {
		event["button"], event["clickCount"] = "left", 1
	} else {
		event["buttons"] = 1
	}
	p.Call("Input.dispatchMouseEvent", event, nil)
}

// Key presses a key: a letter or a name such as "Enter".
func (p *Page) Key(key string) {
	p.t.Helper()
	down := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		down["text"] = key
	} else if key == "Enter" {
		down["text"], down["code"], down["windowsVirtualKeyCode"] = "\r", "Enter", 13
	} else if code := map[string]int{"Backspace": 8, "Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[key]; code != 0 {
		down["code"], down["windowsVirtualKeyCode"] = key, code
	}
	p.Call("Input.dispatchKeyEvent", down, nil)
	p.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
}

// Type types text into what has the focus.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.Call("Input.insertText", map[string]any{"text": text}, nil)
}

// Size makes the window as large.
func (p *Page) Size(width, height int) {
	p.t.Helper()
	p.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Dark sets what the system prefers.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	p.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": value}}}, nil)
}

// Screenshot returns a picture of the window, as PNG.
func (p *Page) Screenshot() []byte {
	p.t.Helper()
	var shot struct {
		Data string `json:"data"`
	}
	p.Call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	picture, err := base64.StdEncoding.DecodeString(shot.Data)
	p.must(err)
	return picture
}
