package profile

import "testing"

func TestAllocatorNamesAreThoseOfTheCallers(t *testing.T) {
	for function, want := range map[string]string{
		"void* mallow::record::HitAllocate<(mallow::record::Function)1>(unsigned long, void* (*)(unsigned long))":           "malloc",
		"void* mallow::record::HitAllocate<(mallow::record::Function)3>(unsigned long, void* (*)(unsigned long))":           "realloc",
		"void* mallow::record::HitAllocate<(mallow::record::Function)13>(unsigned long, void* (*)(unsigned long))":          "operator new",
		"mallow::record::HitAllocateZeroed(unsigned long, unsigned long, void* (*)(unsigned long, unsigned long))":          "calloc",
		"mallow::record::HitReallocate(void*, unsigned long, void* (*)(void*, unsigned long))":                              "realloc",
		"mallow::record::HitRelease(void*, void (*)(void*))":                                                                "free",
		"mallow::record::(anonymous namespace)::ReleaseRarer(mallow::record::ThreadRecorder&, void*, mallow::record::Tag*)": "free",
		"mallow::heap::FreeOfClass(void*, unsigned long)":                                                                   "free",
		"mallow::api::SlowMalloc(unsigned long)":                                                                            "malloc",
		"mallow::api::(anonymous namespace)::OtherRealloc(void*, unsigned long)":                                            "realloc",
		"void* mallow::api::SlowNew<(mallow::record::Function)13>(unsigned long)":                                           "operator new",
		"mallow::heap::ThreadCache::Watch()":                                                                                "mallow::heap::ThreadCache::Watch()",
		"malloc":                                                                                                            "malloc",
	} {
		if name := allocatorName(function); name != want {
			t.Errorf("%s: %q, want %q", function, name, want)
		}
	}
}
