/* The names of the TCMalloc C interface, served by libmallow.
 *
 * For programs that call tcmalloc by its own names: what tcmalloc.h of gperftools declares, with the same signatures.
 * The tc_ names share one heap with malloc, free, operator new and operator delete: a block may be released through
 * any of them, whichever made it, and a size or alignment that is passed to a releasing function is not needed to be
 * right. All functions may be called from any thread at any time. Unless said otherwise a function does what its
 * namesake without tc_ does, at the same cost (a few nanoseconds, no lock), and fails as that does.
 *
 * Sizes and alignments are in bytes.
 */
#ifndef MALLOW_TC_H
#define MALLOW_TC_H

#include <malloc.h>
#include <stddef.h>

#ifdef __cplusplus
#include <new>
#endif

/* The version of the interface, which programs test: that of gperftools whose functions are here. */
#define TC_VERSION_MAJOR 2
#define TC_VERSION_MINOR 10
#define TC_VERSION_PATCH ""
#define TC_VERSION_STRING "mallow (tcmalloc interface 2.10)"

/* On declarations: does not throw. */
#ifndef PERFTOOLS_NOTHROW
#if defined(__cplusplus) && __cplusplus >= 201103L
#define PERFTOOLS_NOTHROW noexcept
#elif defined(__cplusplus)
#define PERFTOOLS_NOTHROW throw()
#else
#define PERFTOOLS_NOTHROW __attribute__((__nothrow__))
#endif
#endif

#ifndef PERFTOOLS_DLL_DECL
#define PERFTOOLS_DLL_DECL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* TC_VERSION_STRING of the library that serves this process; the numbers go to *major, *minor and *patch, of which any
 * may be null. Static text. */
const char* tc_version(int* major, int* minor, const char** patch) PERFTOOLS_NOTHROW;

/* --- malloc and its family. Null and ENOMEM when there is no memory. ---------------------------------------------- */

void* tc_malloc(size_t bytes) PERFTOOLS_NOTHROW;
/* Never asks the new handler, see tc_set_new_mode. */
void* tc_malloc_skip_new_handler(size_t bytes) PERFTOOLS_NOTHROW;
void tc_free(void* p) PERFTOOLS_NOTHROW;
void tc_free_sized(void* p, size_t bytes) PERFTOOLS_NOTHROW;
void tc_cfree(void* p) PERFTOOLS_NOTHROW;
void* tc_calloc(size_t count, size_t bytes) PERFTOOLS_NOTHROW;
/* Frees p and returns null when bytes is 0. */
void* tc_realloc(void* p, size_t bytes) PERFTOOLS_NOTHROW;

/* An alignment that is no power of two is raised to the next one; EINVAL when there is none. */
void* tc_memalign(size_t alignment, size_t bytes) PERFTOOLS_NOTHROW;
/* Returns 0, EINVAL or ENOMEM; *result is written on success only. */
int tc_posix_memalign(void** result, size_t alignment, size_t bytes) PERFTOOLS_NOTHROW;
void* tc_valloc(size_t bytes) PERFTOOLS_NOTHROW;
void* tc_pvalloc(size_t bytes) PERFTOOLS_NOTHROW;

/* --- What the heap says of itself --------------------------------------------------------------------------------- */

/* The bytes that may be used at p, at least those asked for; 0 for null. */
size_t tc_malloc_size(void* p) PERFTOOLS_NOTHROW;
/* The bytes that a block of so many bytes would have; of `flags` the lowest six bits are the logarithm of its
 * alignment. Allocates nothing. 0 when there is no such block. */
size_t tc_nallocx(size_t bytes, int flags) PERFTOOLS_NOTHROW;
/* To standard error. */
void tc_malloc_stats(void) PERFTOOLS_NOTHROW;
int tc_mallopt(int parameter, int value) PERFTOOLS_NOTHROW;
struct mallinfo tc_mallinfo(void) PERFTOOLS_NOTHROW;
struct mallinfo2 tc_mallinfo2(void) PERFTOOLS_NOTHROW;

/* --- operator new and delete. The forms without nothrow throw std::bad_alloc. ------------------------------------- */

/* 1: when there is no memory, the tc_ functions above ask the new handler of C++ and try again until it gives up, and
 * then return null. 0, as at the start: they return null at once. Returns the mode before, of the whole process. */
int tc_set_new_mode(int mode) PERFTOOLS_NOTHROW;
int tc_query_new_mode(void) PERFTOOLS_NOTHROW;

void* tc_new(size_t bytes);
void* tc_newarray(size_t bytes);
void tc_delete(void* p) PERFTOOLS_NOTHROW;
void tc_delete_sized(void* p, size_t bytes) PERFTOOLS_NOTHROW;
void tc_deletearray(void* p) PERFTOOLS_NOTHROW;
void tc_deletearray_sized(void* p, size_t bytes) PERFTOOLS_NOTHROW;

#ifdef __cplusplus

void* tc_new_nothrow(size_t bytes, const std::nothrow_t&) PERFTOOLS_NOTHROW;
void* tc_newarray_nothrow(size_t bytes, const std::nothrow_t&) PERFTOOLS_NOTHROW;
void tc_delete_nothrow(void* p, const std::nothrow_t&) PERFTOOLS_NOTHROW;
void tc_deletearray_nothrow(void* p, const std::nothrow_t&) PERFTOOLS_NOTHROW;

#if defined(__cpp_aligned_new)

void* tc_new_aligned(size_t bytes, std::align_val_t alignment);
void* tc_new_aligned_nothrow(size_t bytes, std::align_val_t alignment,
                             const std::nothrow_t&) PERFTOOLS_NOTHROW;
void* tc_newarray_aligned(size_t bytes, std::align_val_t alignment);
void* tc_newarray_aligned_nothrow(size_t bytes, std::align_val_t alignment,
                                  const std::nothrow_t&) PERFTOOLS_NOTHROW;
void tc_delete_aligned(void* p, std::align_val_t alignment) PERFTOOLS_NOTHROW;
void tc_delete_sized_aligned(void* p, size_t bytes, std::align_val_t alignment) PERFTOOLS_NOTHROW;
void tc_delete_aligned_nothrow(void* p, std::align_val_t alignment, const std::nothrow_t&) PERFTOOLS_NOTHROW;
void tc_deletearray_aligned(void* p, std::align_val_t alignment) PERFTOOLS_NOTHROW;
void tc_deletearray_sized_aligned(void* p, size_t bytes, std::align_val_t alignment) PERFTOOLS_NOTHROW;
void tc_deletearray_aligned_nothrow(void* p, std::align_val_t alignment,
                                    const std::nothrow_t&) PERFTOOLS_NOTHROW;

#endif

} /* extern "C" */
#endif

#endif
