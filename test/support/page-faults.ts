/** What a test does to the requests of a page: holds them up, or answers them with a problem. */

/** A promise and the way to keep it. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** For `route.fulfill`. */
export const problem = (status: number, code: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  contentType: "application/problem+json",
  body: JSON.stringify({ status, code, title: code, detail: code, hint: "", request_id: "r", errors: [] }),
});
