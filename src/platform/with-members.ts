/** An object as it is, but for some of its members. Its own methods still see the object itself. */
export function withMembers<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(object, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name);
      const value: unknown = Reflect.get(object, name);
      return typeof value === "function" ? value.bind(object) : value;
    },
  });
}
