/** A package of this folder, there once `node scripts/install.mjs bench/field` has run; the caller says which part of it is used. */
export function load(name: string): Promise<unknown> {
  return import(name);
}
