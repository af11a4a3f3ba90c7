import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Returns a reference for an element, and its width in pixels; 0 until it is known. */
export function useWidth<Target extends Element>(): readonly [RefObject<Target | null>, number] {
  const ref = useRef<Target>(null);
  const [widthPx, setWidthPx] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidthPx(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, widthPx];
}
