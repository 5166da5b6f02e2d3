import type { z } from 'zod';

/** Each role includes the one before it. */
type Role = 'read' | 'operate' | 'admin';

type Method = 'GET' | 'POST' | 'DELETE';
export type Route = `${Method} /api/v1/${string}`;

/** `change`: has an Idempotency-Key and is logged. `ask`: a POST that changes nothing. `download`: a streamed read. */
export type Kind = 'read' | 'change' | 'ask' | 'download';

interface Shape {
  params?: z.ZodType;
  query?: z.ZodType;
  headers?: z.ZodType;
  body?: z.ZodType;
  files?: readonly string[];
  answer?: z.ZodType;
  /** For a download, instead of `answer`. `inParts`: supports ranges (206). */
  produces?: { content: z.ZodType; types: readonly string[]; inParts?: boolean };
  /** Default: 200. */
  status?: 201;
  /** Error statuses beyond those of its kind. */
  refuses?: readonly number[];
}

/** A one-word action on a whole campaign; its command and button are generated from this. */
export interface Plain {
  /** Irreversible: the command asks for confirmation. */
  ends?: true;
  /** Campaign states in which the page offers it. */
  states: readonly string[];
  /** Result text, written after the campaign's id. */
  done: string;
  /** Next command, written before the id. */
  next: string;
  /** Extra text for `--help`. */
  help: string;
  choice?: { field: 'letQueued' | 'sample'; flag: string; says: string };
}

interface Besides extends Shape {
  /** Whole sentences. */
  more?: string;
  /** Name in the log, and command of a plain one. Omitted when it depends on the input. */
  action?: string;
  plain?: Plain;
}

export interface Operation<How extends Kind = Kind> extends Besides {
  readonly kind: How;
  readonly route: Route;
  /** Minimum role. */
  readonly role: Role;
  /** One sentence without a full stop. */
  readonly says: string;
  /** Section in the API description. */
  readonly tag: Tag;
}

/** Throws TypeError for a missing parameter. */
export function filledPath(route: Route, params: Readonly<Record<string, unknown>>): string {
  return route.replace(/^\w+ /, '').replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    if (!['string', 'number'].includes(typeof value) || value === '')
      throw new TypeError(`${route} needs ${name}; give it as text or number.`);
    return encodeURIComponent(String(value));
  });
}

export const outlinesOf = <Id extends string>(operations: Readonly<Record<Id, OperationBase<Kind>>>) =>
  Object.fromEntries(
    Object.entries<OperationBase<Kind>>(operations).map(([id, { kind, route, says }]) => [id, { kind, route, says }]),
  ) as Record<Id, Pick<Operation, 'kind' | 'route' | 'says'>>;

export const tags = {
  campaigns: 'Campaigns as a whole.',
  rows: 'Rows of a list, and what was decided about them.',
  insight: 'What a campaign has come to.',
  events: 'The log, from a cursor on.',
  'do-not-call': 'Numbers that are not called.',
  schedules: 'Campaigns that recur.',
  webhooks: 'Other systems that are notified of events.',
  access: 'Who may use API and console.',
} as const;
type Tag = keyof typeof tags;

type OperationBase<How extends Kind> = Pick<Operation<How>, 'kind' | 'route' | 'role' | 'says'>;
const make =
  <How extends Kind>(kind: How) =>
  <const More extends Besides>(route: `${Method} /${string}`, role: Role, says: string, more: More): OperationBase<How> & More => ({
    kind,
    route: route.replace(' ', ' /api/v1') as Route,
    role,
    says,
    ...more,
  });
/** Makers of operations; routes are below `/api/v1`. */
export const [read, change, ask, download] = [make('read'), make('change'), make('ask'), make('download')];

export const under = <Group extends Record<string, OperationBase<Kind>>>(tag: Tag, group: Group) =>
  Object.fromEntries(Object.entries(group).map(([id, operation]) => [id, { ...operation, tag }])) as {
    readonly [Id in keyof Group]: Group[Id] & { tag: Tag };
  };
