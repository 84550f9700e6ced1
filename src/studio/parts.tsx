import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Refused } from "./client.js";
import type { Loaded, Pages } from "./use-loaded.js";

/** What screens are made of. */

/** The heading of a screen, which takes the focus when one comes to it. */
export function Heading({ children, title }: { readonly children: ComponentChildren; readonly title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Maitred Studio`;
    // Who has just come to Studio begins at its top.
    if (document.activeElement !== document.body || location.hash !== "") heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}

export function Section({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="section">
      <h2>{title}</h2>
      {note !== undefined && <p class="note">{note}</p>}
      {children}
    </section>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

interface FailureProps {
  readonly of: Refused;
  readonly again: () => void;
  /** What is said where there is no such thing. Default: as the server does. */
  readonly missing?: string | undefined;
}

export function Failure({ of, again, missing }: FailureProps) {
  if (of.status === 404 && missing !== undefined) return <Empty>{missing}</Empty>;
  return (
    <div class="failure" role="alert">
      <p>
        <strong dir="auto">{of.message}</strong> <span dir="auto">{of.hint}</span>
      </p>
      <button type="button" class="secondary" onClick={again}>
        Try again
      </button>
    </div>
  );
}

interface ShownProps<T> extends Pick<FailureProps, "missing"> {
  readonly of: Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
}

/** What was loaded, or what there is instead: a word while it comes, or why it doesn't. */
export function Shown<T>({ of, children, missing }: ShownProps<T>) {
  return (
    <>
      {of.failure !== null && <Failure of={of.failure} again={of.reload} missing={missing} />}
      {of.value !== null && children(of.value)}
      {of.value === null && of.failure === null && <Loading />}
    </>
  );
}

export function Loading() {
  return (
    <p class="empty" role="status">
      One moment …
    </p>
  );
}

interface TableProps {
  /** Says what it is to who can't see it; a keyboard scrolls it by this. */
  readonly label: string;
  readonly columns: readonly string[];
  readonly children: ComponentChildren;
}

/** A table that scrolls by itself where it is too wide. */
export function Table({ label, columns, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it
    <section class="scroll" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" key={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

interface ListProps<T> extends Pick<FailureProps, "missing"> {
  readonly of: Pages<T>;
  /** What is said where there is nothing. */
  readonly empty: ComponentChildren;
  /** "Older", "More": what the button shows. */
  readonly moreLabel: string;
  readonly children: (rows: readonly T[]) => ComponentChildren;
}

/** A list page by page: the next one is asked for when its end comes into view, or by its button. */
export function Paged<T>({ of, empty, moreLabel, missing, children }: ListProps<T>) {
  const end = useRef<HTMLButtonElement>(null);
  const { more, hasMore } = of;
  const latest = useRef(more);
  latest.current = more;
  // Each page has another end.
  useEffect(() => {
    if (end.current === null) return;
    const seen = new IntersectionObserver((entries) => {
      // The first page waits for its reader to scroll.
      if (entries.some(({ isIntersecting }) => isIntersecting) && scrolled()) latest.current();
    });
    seen.observe(end.current);
    return () => seen.disconnect();
  }, [hasMore, of.rows.length]);
  return (
    <>
      {of.pastFirst && (
        <button type="button" class="quiet wide" onClick={of.restart}>
          Back to the newest
        </button>
      )}
      {of.failure !== null && <Failure of={of.failure} again={of.again} missing={missing} />}
      {of.ready &&
        (of.rows.length > 0 ? children(of.rows) : <Empty>{of.hasMore ? "Nothing so far. There is more to look through." : empty}</Empty>)}
      {!of.ready && of.failure === null && <Loading />}
      {of.hasMore && (
        <button ref={end} type="button" class="quiet wide" aria-disabled={of.loading} onClick={of.more}>
          {of.loading ? "One moment …" : moreLabel}
        </button>
      )}
    </>
  );
}

/** Whether the reader has scrolled the page, or the list beside it. */
function scrolled(): boolean {
  return scrollY > 0 || (document.querySelector(".list-pane")?.scrollTop ?? 0) > 0;
}

/** A link, or its words alone where what it leads to is not known. */
export function Link({
  to,
  children,
  current = false,
}: {
  readonly to: string | null;
  readonly children: ComponentChildren;
  readonly current?: boolean;
}) {
  if (to === null) return <>{children}</>;
  return (
    <a href={to} {...(current && { "aria-current": "page" as const })}>
      {children}
    </a>
  );
}
