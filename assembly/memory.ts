/** End of the kernel's static data; JavaScript manages all memory from here on. */
export const HEAP_BASE: usize = __heap_base;
