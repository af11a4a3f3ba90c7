/** Below this lie the kernel's own constants; from here on JavaScript owns every byte. */
export const HEAP_BASE: usize = __heap_base;
