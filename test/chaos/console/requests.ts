import type { UploadRow } from '../../../src/ledger/people/edit-verdict.ts';
import { resolveWord, takeRows, type Act, type ActContext, pauseMs } from '../acts.ts';
import { editOf, rulesOf } from '../scenarios.ts';
import type { ConsoleRequest } from './console.ts';

export interface Wanted {
  request: ConsoleRequest;
  /** The number withdrawn or suppressed; null: none. */
  number: string | null;
  heard: (body: never, context: ActContext) => void;
  /** Whether it is over once the campaign goes on. */
  endsWhenItGoesOn?: true;
  /** Called when its outcome is unknown and it is too late to ask. */
  unheard?: (context: ActContext) => Promise<void>;
}

type Wants = (context: ActContext) => Promise<Wanted | null>;

const small = 'campaigns/small';

function stop({ standing, mark }: ActContext, e164: string): void {
  if (!standing.stopped.has(e164)) standing.stopped.set(e164, mark());
}

function end(change: 'drain' | 'cancel'): Wanted {
  const heard: Wanted['heard'] = (_, { standing, mark }) => {
    standing.ended ??= mark();
  };
  return { request: { path: `${small}/${change}` }, number: null, heard, endsWhenItGoesOn: true };
}

const wants: Readonly<Partial<Record<Act, Wants>>> = {
  suppress: async ({ standing }) => {
    const e164 = (standing.rows[1] ?? standing.rows[0])?.e164 ?? '';
    const request = { path: 'suppressions', body: { numbers: [e164] } };
    return { request, number: e164, heard: (_, context) => stop(context, e164) };
  },

  /** Redialling by the API would start a round after the campaign's end; the driver does that itself. */
  resolve: async (context) => {
    if ((await resolveWord(context)) === 'redial') return null;
    const request = { path: `${small}/resolve`, body: { decision: 'give_up' } };
    return { request, number: null, heard: () => {} };
  },

  update: async ({ scenario }) => {
    const upload = editOf(scenario);
    const { columns } = rulesOf(scenario).list;
    const lines = [columns, ...upload.map(({ cells }) => cells)].map((cells) => cells.join(','));
    return {
      request: { path: `${small}/update`, list: `${lines.join('\n')}\n` },
      number: null,
      heard: ({ failures }: { failures: { examples: { row: number }[] }[] }, context) => {
        const failed = failures.flatMap(({ examples }) => examples.map(({ row }) => row));
        // A file's rows are numbered by it.
        takeRows(
          upload.filter((_, index) => !failed.includes(index + 1)).map((row) => ({ row, campaignRow: null })),
          context,
        );
      },
      unheard: async (context) => takeRows(await findListed(upload, context), context),
    };
  },

  withdraw: async ({ standing }) => {
    const last = standing.rows.at(-1);
    if (last === undefined) return null;
    return {
      request: { path: `${small}/withdraw`, body: { ids: [last.externalId] } },
      number: last.e164,
      heard: ({ withdrawn, left }: { withdrawn: number; left: { why: string }[] }, context) => {
        if (withdrawn === 0 && !left.some(({ why }) => why === 'withdrawing')) return;
        context.standing.stopped.set(last.e164, context.mark());
        context.standing.withdrawn.add(last.e164);
      },
    };
  },

  drain: async () => end('drain'),
  cancel: async () => end('cancel'),

  pause: async () => ({
    request: { path: `${small}/pause` },
    number: null,
    heard: (_, { standing, mark, deps }) => {
      standing.paused ??= { from: mark(), resumeAt: deps.nowReal() + pauseMs };
    },
    endsWhenItGoesOn: true,
  }),
};

/** Null: the API has no such request, or there is nothing to request. */
export async function requestOf(act: Act, context: ActContext): Promise<Wanted | null> {
  return (await wants[act]?.(context)) ?? null;
}

/** The rows of an unanswered upload that the campaign has. */
async function findListed(upload: readonly UploadRow[], { deps }: ActContext) {
  const rows = await deps.store.db.selectFrom('recipients').select(['external_id', 'e164', 'row_number']).execute();
  return upload.flatMap((row) => {
    const found = rows.find((each) => each.external_id === row.externalId && each.e164 === row.e164);
    return found === undefined ? [] : [{ row, campaignRow: found.row_number }];
  });
}
