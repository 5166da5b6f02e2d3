import type { z } from 'zod';

/** What a token allows; each role includes the one before it. */
type Role = 'read' | 'operate' | 'admin';

type Method = 'GET' | 'POST' | 'DELETE';
export type Route = `${Method} /api/v1/${string}`;

/**
 * `read`: changes nothing. `change`: carries an Idempotency-Key, and is written to the log. `ask`: a POST without one, which changes
 * nothing. `download`: a read whose answer is handed on as it comes.
 */
export type Kind = 'read' | 'change' | 'ask' | 'download';

/** What an operation takes and answers. */
interface Shape {
  params?: z.ZodType;
  query?: z.ZodType;
  headers?: z.ZodType;
  body?: z.ZodType;
  /** Names of the files that it takes. */
  files?: readonly string[];
  answer?: z.ZodType;
  /** Instead of an answer, of a download: its media types, and whether it comes in parts where they are asked for (206). */
  produces?: { content: z.ZodType; types: readonly string[]; inParts?: boolean };
  /** Default: 200. */
  status?: 201;
  /** Statuses with which it may refuse besides those of every operation of its kind. */
  refuses?: readonly number[];
}

/** What is done to a campaign as a whole with one word or one press: its command and its button are made from this. */
export interface Plain {
  /** It cannot be undone: the command asks first. */
  ends?: true;
  /** States of a campaign in which the page offers it. */
  states: readonly string[];
  /** What has become of the campaign, behind its id. */
  done: string;
  /** What a person may do next, as a command before the id. */
  next: string;
  /** What `--help` says besides. */
  help: string;
  /** What a person may ask for besides. */
  choice?: { field: 'letQueued' | 'sample'; flag: string; says: string };
}

interface Besides extends Shape {
  /** What to know besides, in whole sentences. */
  more?: string;
  /** What the log calls the change; of one that is plain also its command. Left out where that depends on what is sent. */
  action?: string;
  plain?: Plain;
}

/** Something that a person can do: how it is asked for, who may, and what it takes and answers. */
export interface Operation<How extends Kind = Kind> extends Besides {
  readonly kind: How;
  readonly route: Route;
  /** The least role that it takes. */
  readonly role: Role;
  /** What it does, as one sentence without a full stop. */
  readonly says: string;
  /** The heading under which the description of the API has it. */
  readonly tag: Tag;
}

/** The path of a route for these parameters. Throws TypeError for one that is missing. */
export function filledPath(route: Route, params: Readonly<Record<string, unknown>>): string {
  return route.replace(/^\w+ /, '').replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    if (!['string', 'number'].includes(typeof value) || value === '')
      throw new TypeError(`${route} needs ${name}; give it as text or number.`);
    return encodeURIComponent(String(value));
  });
}

/** Of each operation what it is and how it is asked for, without its schemas. */
export const outlinesOf = <Id extends string>(operations: Readonly<Record<Id, Asked<Kind>>>) =>
  Object.fromEntries(Object.entries<Asked<Kind>>(operations).map(([id, { kind, route, says }]) => [id, { kind, route, says }])) as Record<
    Id,
    Pick<Operation, 'kind' | 'route' | 'says'>
  >;

/** Headings of the description of the API. */
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

type Asked<How extends Kind> = Pick<Operation<How>, 'kind' | 'route' | 'role' | 'says'>;
const make =
  <How extends Kind>(kind: How) =>
  <const More extends Besides>(route: `${Method} /${string}`, role: Role, says: string, more: More): Asked<How> & More => ({
    kind,
    route: route.replace(' ', ' /api/v1') as Route,
    role,
    says,
    ...more,
  });
/** One of its kind: route below `/api/v1`, role, sentence, and what it takes and answers. */
export const [read, change, ask, download] = [make('read'), make('change'), make('ask'), make('download')];

export const under = <Group extends Record<string, Asked<Kind>>>(tag: Tag, group: Group) =>
  Object.fromEntries(Object.entries(group).map(([id, operation]) => [id, { ...operation, tag }])) as {
    readonly [Id in keyof Group]: Group[Id] & { tag: Tag };
  };
