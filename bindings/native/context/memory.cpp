// alloc and free: memory of the heap that the processes of a node share.
#include "fab/memory.h"

#include "core/base/shared_heap.h"

namespace fab {

void* alloc(std::size_t bytes) { return core::SharedHeap::of_process().allocate(bytes); }

void free(void* memory) { core::SharedHeap::of_process().free(memory); }

}  // namespace fab
