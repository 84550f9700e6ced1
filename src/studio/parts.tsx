import type { ComponentChildren, ComponentProps } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button, Failure } from "../web/controls.js";
import type { Problem } from "../web/problems.js";
import { addressOf, route, setQuery } from "./route.js";
import { about } from "./session.js";
import { Name } from "./shown.js";
import type { Loaded, Pages } from "./use-loaded.js";

/** What screens are made of. */

/** The heading of a screen, which takes the focus when one comes to it. */
export function Heading({ children, title }: { readonly children: ComponentChildren; readonly title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Maitred Studio`;
    document.querySelector(".side [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    // Who has just come to Studio begins at its top.
    if (document.activeElement !== document.body || location.hash !== "") heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}

type SectionProps = Readonly<{ title: string; note?: string; children: ComponentChildren }>;

export const Section = ({ title, note, children }: SectionProps) => (
  <section class="section">
    <h2>{title}</h2>
    {note !== undefined && <p class="note">{note}</p>}
    {children}
  </section>
);

export const Empty = ({ children }: { readonly children: ComponentChildren }) => <p class="empty">{children}</p>;

export const Loading = () => (
  <p class="empty" role="status">
    One moment …
  </p>
);

interface FailedProps {
  readonly of: Problem;
  readonly again: () => void;
  /** What is said where there is no such thing. Default: as the server does. */
  readonly missing?: string | undefined;
}

export const Failed = ({ of, again, missing }: FailedProps) =>
  of.status === 404 && missing !== undefined ? <Empty>{missing}</Empty> : <Failure title={of.message} hint={of.hint} again={again} />;

interface ShownProps<T> extends Pick<FailedProps, "missing"> {
  readonly of: Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
}

/** What was loaded, or what there is instead: a word while it comes, or why it doesn't. */
export const Shown = <T,>({ of, children, missing }: ShownProps<T>) => (
  <>
    {of.failure !== null && <Failed of={of.failure} again={of.reload} missing={missing} />}
    {of.value !== null && children(of.value)}
    {of.value === null && of.failure === null && <Loading />}
  </>
);

interface FilledProps<T> {
  readonly of: readonly T[] | null;
  /** What is said where it isn't known. */
  readonly unknown?: string;
  /** What is said where there is nothing. */
  readonly none?: string;
  readonly children: (items: readonly T[]) => ComponentChildren;
}

export function Filled<T>({ of, unknown, none, children }: FilledProps<T>) {
  if (of === null || of.length === 0) return <Empty>{of === null ? unknown : none}</Empty>;
  return <>{children(of)}</>;
}

interface ListProps<T> extends Omit<FilledProps<T>, "children"> {
  readonly class: string;
  /** The class of each item. */
  readonly item?: string;
  readonly as?: "ol" | "ul";
  readonly children: (item: T) => ComponentChildren;
}

export const List = <T,>({ class: look, item, as: Tag = "ol", children, ...filled }: ListProps<T>) => (
  <Filled {...filled}>
    {(items) => (
      <Tag class={look}>
        {items.map((each, index) => (
          <li key={index} class={item}>
            {children(each)}
          </li>
        ))}
      </Tag>
    )}
  </Filled>
);

/** What stands at the head of a column, and what a row has in it. */
type Column<T> = readonly [name: string, cell: (row: T, index: number) => ComponentChildren];

interface TableProps<T> {
  /** Says what it is to who can't see it; a keyboard scrolls it by this. */
  readonly label: string;
  readonly of: readonly T[];
  /** By the first one a row is named. */
  readonly columns: readonly [Column<T>, ...Column<T>[]];
}

/** A table that scrolls by itself where it is too wide. */
export const Table = <T,>({ label, of, columns }: TableProps<T>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it
  <section class="scroll" aria-label={label} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {columns.map(([name]) => (
            <th scope="col" key={name}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {of.map((row, index) => (
          <tr key={index}>
            <th scope="row">{columns[0][1](row, index)}</th>
            {columns.slice(1).map(([name, cell]) => (
              <td key={name}>{cell(row, index)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

interface PagedProps<T> extends Pick<FailedProps, "missing"> {
  readonly of: Pages<T>;
  /** What is said where there is nothing. */
  readonly empty: string;
  /** "Older", "More": what the button shows. */
  readonly moreLabel: string;
  readonly children: (rows: readonly T[]) => ComponentChildren;
}

/** A list page by page: the next one is asked for when its end comes into view, or by its button. */
export function Paged<T>({ of, empty, moreLabel, missing, children }: PagedProps<T>) {
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
      {of.pastFirst && <Button label="Back to the newest" class="quiet wide" onClick={of.restart} />}
      {of.failure !== null && <Failed of={of.failure} again={of.again} missing={missing} />}
      {of.ready &&
        (of.rows.length > 0 ? children(of.rows) : <Empty>{of.hasMore ? "Nothing so far. There is more to look through." : empty}</Empty>)}
      {!of.ready && of.failure === null && <Loading />}
      {hasMore && (
        <Button ref={end} label={of.loading ? "One moment …" : moreLabel} class="quiet wide" aria-disabled={of.loading} onClick={of.more} />
      )}
    </>
  );
}

/** Whether the reader has scrolled the page, or the list beside it. */
function scrolled(): boolean {
  return scrollY > 0 || (document.querySelector(".list-pane")?.scrollTop ?? 0) > 0;
}

type LinkProps = Readonly<{ to: string | null; children: ComponentChildren; current?: boolean }>;

/** A link, or its words alone where what it leads to is not known. */
export function Link({ to, children, current = false }: LinkProps) {
  if (to === null) return <>{children}</>;
  return (
    <a href={to} {...(current && { "aria-current": "page" as const })}>
      {children}
    </a>
  );
}

export const GuestLink = ({ of: { tenant, user } }: { readonly of: Readonly<{ tenant: string | null; user: string | null }> }) => (
  <Link to={addressOf("guests", [tenant, user])}>
    <Name of={user} />
  </Link>
);

type FieldProps = ComponentProps<"input"> & Readonly<{ label: ComponentChildren }>;

/** A field for a name or the like, with its label. */
export const Field = ({ label, ...props }: FieldProps) => (
  <label>
    {label}
    <input type="text" maxLength={256} dir="auto" {...props} />
  </label>
);

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value: string | undefined;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (event: Event) => void;
  /** In a line with other things. */
  readonly inline?: boolean;
}

export function Choice({ label, name, value = "", options, onChange, inline = false }: ChoiceProps) {
  return (
    <label class={inline ? "row" : ""}>
      {label}{" "}
      <select name={name} onChange={onChange}>
        {options.map(([option, shown]) => (
          <option key={option} value={option} selected={option === value}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}

/** An option that is called what it is. */
export const itself = (name: string) => [name, name] as const;

/** Narrows a screen to one tenant, where the server tells which there are. */
export function TenantFilter() {
  const tenants = about.value?.tenants ?? [];
  if (tenants.length < 2) return null;
  const { query } = route.value;
  return (
    <Choice
      label="Tenant"
      name="tenant"
      value={query.tenant}
      options={[["", "all"], ...tenants.map(itself)]}
      onChange={(event) => setQuery({ ...query, tenant: (event.currentTarget as HTMLSelectElement).value })}
      inline
    />
  );
}
