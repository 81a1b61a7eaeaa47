package fastpath

import "testing"

// What the counts are made of.
func TestDecode(t *testing.T) {
	names := map[uint64]string{0x24f80: "offset of thread_words"}
	for _, test := range []struct {
		listed, text          string
		loads, stores         int
		jump, call, ret, lock bool
	}{
		{listed: "cmp    $0x400,%rdi", text: "cmp    $0x400,%rdi"},
		{listed: "lea    0x22ac(%rip),%rdx        # 1c280 <mallow::heap::internal::kSizeClasses>", text: "lea    kSizeClasses(%rip),%rdx"},
		{listed: "lea    -0x19d1a(%rip),%rdx        # 2560 <mallow::heap::internal::kSizeClasses>", text: "lea    kSizeClasses(%rip),%rdx"},
		{listed: "mov    0x1fc79(%rip),%rcx        # 24f80 <_GLOBAL_OFFSET_TABLE_+0x128>", text: "mov    offset of thread_words(%rip),%rcx", loads: 1},
		{listed: "movzbl 0x610(%rdx,%rax,1),%edx", text: "movzbl 0x610(%rdx,%rax,1),%edx", loads: 1},
		{listed: "add    %fs:(%rcx),%rax", text: "add    %fs:(%rcx),%rax", loads: 1},
		{listed: "mov    %rax,(%rcx)", text: "mov    %rax,(%rcx)", stores: 1},
		{listed: "addq   $0x1,0x8(%rax)", text: "addq   $0x1,0x8(%rax)", loads: 1, stores: 1},
		{listed: "cmpb   $0x0,0x3(%rip)        # 8 <mallow::record::g_recording>", text: "cmpb   $0x0,g_recording(%rip)", loads: 1},
		{listed: "lock xadd %rax,(%rdx)", text: "lock xadd %rax,(%rdx)", loads: 1, stores: 1, lock: true},
		{listed: "xchg   %al,(%rdx)", text: "xchg   %al,(%rdx)", loads: 1, stores: 1, lock: true},
		{listed: "xchg   %ax,%ax", text: "xchg   %ax,%ax"},
		{listed: "push   %rbx", text: "push   %rbx", stores: 1},
		{listed: "je     5358 <__libc_malloc+0x78>", text: "je     __libc_malloc+0x78", jump: true},
		{listed: "call   6a40 <mallow::api::SlowMalloc(unsigned long)>", text: "call   SlowMalloc", call: true},
		{listed: "ret", text: "ret", ret: true},
		{listed: "nopw   0x0(%rax,%rax,1)", text: "nopw   0x0(%rax,%rax,1)"},
	} {
		i := decode(test.listed, names)
		if i.text() != test.text {
			t.Errorf("%q became %q, not %q", test.listed, i.text(), test.text)
		}
		if i.isJump() != test.jump || i.isCall() != test.call || i.isReturn() != test.ret || i.isLocked() != test.lock {
			t.Errorf("%q: jump %t, call %t, return %t, locked %t", test.listed, i.isJump(), i.isCall(), i.isReturn(), i.isLocked())
		}
		if loads, stores := i.memory(t); loads != test.loads || stores != test.stores {
			t.Errorf("%q: %d loads, %d stores, not %d and %d", test.listed, loads, stores, test.loads, test.stores)
		}
	}
}
