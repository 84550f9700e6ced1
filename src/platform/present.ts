/** An object without what is undefined, as exact optional properties want it. */
export function present<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** An object as it is, a frozen one too, but for some of its members. Its own methods still see the object itself. */
export function withMembers<T extends object>(target: T, members: Partial<T>): T {
  // What stands for a frozen object itself may have no other members.
  return new Proxy<T>(Object.create(null), {
    get(_, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
    has: (_, name) => Object.hasOwn(members, name) || Reflect.has(target, name),
  });
}
