// Built twice, with frames of different size in code that is otherwise the same byte for byte in length.
extern "C" void ReloadThrough(void (*callback)());

#define MALLOW_TEXT(x) #x
#define MALLOW_STRING(x) MALLOW_TEXT(x)

asm(".text\n.globl ReloadThrough\n.type ReloadThrough,@function\nReloadThrough:\n.cfi_startproc\n"
    "sub $" MALLOW_STRING(MALLOW_FRAME_BYTES) ", %rsp\n"
    ".cfi_adjust_cfa_offset " MALLOW_STRING(MALLOW_FRAME_BYTES) "\n"
    "call *%rdi\n"
    "add $" MALLOW_STRING(MALLOW_FRAME_BYTES) ", %rsp\n"
    ".cfi_adjust_cfa_offset -" MALLOW_STRING(MALLOW_FRAME_BYTES) "\n"
    "ret\n.cfi_endproc\n.size ReloadThrough, . - ReloadThrough\n");
