#include "textflag.h"

#define SYS_rt_sigaction 13
#define SYS_rt_sigprocmask 14
#define SYS_fcntl 72
#define F_GETFD 1
#define EBADF 9

// The entry point of build/mallow (linked with -E). It notes the ignored and
// the blocked signals and the closed standard descriptors, because the Go
// runtime is about to replace them, and goes on to the runtime's own entry
// point. It keeps the stack pointer and, as the ABI asks of an entry point, RDX.
TEXT mallow_entry(SB),NOSPLIT|NOFRAME,$0
	MOVQ DX, R13
	SUBQ $32, SP
	MOVQ $1, R12                // signal
nextSignal:
	MOVQ R12, DI
	MOVQ $0, SI                 // only ask
	MOVQ SP, DX                 // for the present action
	MOVQ $8, R10
	MOVQ $SYS_rt_sigaction, AX
	SYSCALL
	CMPQ AX, $0
	JNE  askedSignal
	CMPQ 0(SP), $1              // SIG_IGN
	JNE  askedSignal
	LEAQ -1(R12), CX
	MOVQ $1, AX
	SHLQ CX, AX
	ORQ  AX, ·entryIgnored(SB)
askedSignal:
	INCQ R12
	CMPQ R12, $64
	JLE  nextSignal

	MOVQ $0, DI
	MOVQ $0, SI                 // only ask
	LEAQ ·entryBlocked(SB), DX
	MOVQ $8, R10
	MOVQ $SYS_rt_sigprocmask, AX
	SYSCALL

	MOVQ $0, R12                // descriptor
nextDescriptor:
	MOVQ R12, DI
	MOVQ $F_GETFD, SI
	MOVQ $SYS_fcntl, AX
	SYSCALL
	CMPQ AX, $-EBADF
	JNE  askedDescriptor
	MOVQ R12, CX
	MOVQ $1, AX
	SHLQ CX, AX
	ORQ  AX, ·entryClosed(SB)
askedDescriptor:
	INCQ R12
	CMPQ R12, $2
	JLE  nextDescriptor

	ADDQ $32, SP
	MOVQ R13, DX
	JMP  _rt0_amd64_linux(SB)
