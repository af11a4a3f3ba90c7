/** Imports a built module. @param {string} path below dist/ */
export const built = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);

/**
 * Returns an object that behaves like the target except for some methods.
 * @template {object} T
 * @param {T} target
 * @param {Partial<T>} methods
 * @returns {T}
 */
export function replacing(target, methods) {
  return new Proxy(target, {
    get(_target, name) {
      if (Object.hasOwn(methods, name)) return methods[name];
      // With the target as receiver: proxies have no access to private members.
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
