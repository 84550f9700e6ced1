/** What a schema's type is to those who are given it: nobody may change it, or anything in it. */
export type ReadOnly<T> = T extends readonly (infer U)[]
  ? readonly ReadOnly<U>[]
  : T extends object
    ? { readonly [K in keyof T]: ReadOnly<T[K]> }
    : T;
