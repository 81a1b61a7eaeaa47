package real

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mallow/test/harness"
)

const nginxSettings = `daemon off;
master_process on;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 64; }
http {
  access_log off;
  gzip on;
  gzip_types text/plain;
  default_type text/plain;
  client_body_temp_path %[1]s/body;
  proxy_temp_path %[1]s/proxy;
  fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi;
  scgi_temp_path %[1]s/scgi;
  server {
    listen 127.0.0.1:%[2]d;
    root %[1]s/pages;
    location /hello { return 200 "hello\n"; }
  }
}
`

// server is an nginx with files and settings of its own on a free port of the loopback interface.
type server struct {
	settings string
	address  string
}

func prepareServer(t *testing.T) server {
	t.Helper()
	folder := harness.TempDir(t)
	if err := os.Mkdir(filepath.Join(folder, "pages"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "pages", "small"), "small\n")
	write(t, filepath.Join(folder, "pages", "large"), randomLines(30000))
	port := harness.FreePort(t)
	settings := filepath.Join(folder, "nginx.conf")
	write(t, settings, fmt.Sprintf(nginxSettings, folder, port))
	return server{settings, fmt.Sprintf("127.0.0.1:%d", port)}
}

func (s server) command(t *testing.T) harness.Command {
	return harness.Command{Arguments: []string{
		installed(t, "/usr/sbin/nginx", "nginx-light"), "-p", filepath.Dir(s.settings), "-c", s.settings, "-e", filepath.Join(filepath.Dir(s.settings), "error.log"),
	}}
}

func (s server) await(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); ; time.Sleep(20 * time.Millisecond) {
		connection, err := net.DialTimeout("tcp", s.address, time.Second)
		if err == nil {
			connection.Close()
			return
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(filepath.Dir(s.settings), "error.log"))
			t.Fatalf("nginx does not answer: %v\n%s", err, log)
		}
	}
}

func (s server) fetch(t *testing.T) harness.Command {
	command := harness.Command{Arguments: []string{installed(t, "/usr/bin/curl", "curl"), "-sS"}}
	for range 3 {
		for _, page := range []string{"hello", "small", "large", "missing"} {
			command.Arguments = append(command.Arguments, "http://"+s.address+"/"+page)
		}
	}
	return command
}

func TestCurlFromNginx(t *testing.T) {
	server := prepareServer(t)
	nginx := harness.Start(t, server.command(t))
	server.await(t)
	compareRuns(t, program{name: "curl", least: 5_000,
		freeNullsVary: "curl 8.14 frees NULL whenever something arrives, and how often, the sockets decide"}, server.fetch(t))
	if status := nginx.Stop(t, syscall.SIGQUIT); status != 0 {
		t.Errorf("nginx ended with status %d", status)
	}
}

// nginx recorded: the worker forks from the master and gives up its rights.
func TestRecordedNginx(t *testing.T) {
	server := prepareServer(t)
	plain := harness.Start(t, server.command(t))
	server.await(t)
	want := harness.Run(t, server.fetch(t)).Output
	plain.Stop(t, syscall.SIGQUIT)

	recording := filepath.Join(harness.TempDir(t), "run.mallow")
	command := server.command(t)
	command.Arguments = append([]string{harness.CLI(t), "record", "-o", recording, "--"}, command.Arguments...)
	recorded := harness.Start(t, command)
	server.await(t)
	if got := harness.Run(t, server.fetch(t)).Output; got != want {
		t.Errorf("a recorded nginx answers otherwise: %s", firstDifference(want, got))
	}
	if status := recorded.Stop(t, syscall.SIGQUIT); status != 0 {
		t.Errorf("recorded nginx ended with status %d\n%s", status, recorded.Errors())
	}
	report := harness.ReadReport(t, recording)
	if len(report.Processes) != 2 || report.Totals.Allocations < 500 {
		t.Errorf("%d processes, %d allocations: master and worker expected", len(report.Processes), report.Totals.Allocations)
	}
}
