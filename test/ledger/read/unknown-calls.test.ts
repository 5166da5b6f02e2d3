import { expect, test } from 'vitest';
import { findUnknownCalls, type ListedCall } from '../../../src/ledger/read/unknown-calls.ts';
import { hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { answered, beginProven, noon, numbers } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';

const pacing = { maxConcurrentCalls: 50, startsPerMinute: null, batchSize: 2, refillThreshold: 1 };
const [first = '', second = '', third = ''] = numbers(3);

async function* listOf(entries: readonly Partial<ListedCall>[]): AsyncGenerator<ListedCall> {
  const nothing = { conversationId: '', direction: null, startedAt: noon, calleeNumber: null, references: [] };
  for (const [index, entry] of entries.entries()) yield { ...nothing, conversationId: `conv_${index}`, ...entry };
}

const anonymous = (startedAt = noon) => ({ startedAt });
/** Two calls were requested at noon, to the first and the second number; one of them has its record. */
const cases: { what: string; entries: Partial<ListedCall>[]; unknown: string[] }[] = [
  { what: 'its own record', entries: [{ conversationId: 'conv_first', calleeNumber: first }], unknown: [] },
  { what: 'the record of the open call', entries: [{ calleeNumber: second }], unknown: [] },
  { what: 'a second record of it', entries: [{ calleeNumber: second }, { calleeNumber: second }], unknown: ['conv_1'] },
  { what: 'a call to somebody who was not called', entries: [{ calleeNumber: third }], unknown: ['conv_0'] },
  { what: 'a call to a stranger', entries: [{ calleeNumber: '+12125550199' }], unknown: [] },
  { what: 'an inbound call', entries: [{ calleeNumber: third, direction: 'inbound' }], unknown: [] },
  { what: 'a call from before', entries: [{ calleeNumber: third, startedAt: noon - hourMs }], unknown: [] },
  { what: 'a record without time', entries: [{ calleeNumber: third, startedAt: null }], unknown: ['conv_0'] },
  { what: 'one record that names nobody', entries: [anonymous()], unknown: [] },
  { what: 'two that name nobody', entries: [anonymous(noon + minuteMs), anonymous()], unknown: ['conv_0'] },
  { what: 'one that began too late for it', entries: [anonymous(noon + 3 * hourMs)], unknown: ['conv_0'] },
  { what: 'our reference to the open call', entries: [{ references: ['LEDGER:spring/2/1'] }], unknown: [] },
  { what: 'our reference to a lost call', entries: [{ references: ['LEDGER:spring/3/1'] }], unknown: ['conv_0'] },
];

test.for(bothDialects.flatMap((dialect) => cases.map((given) => ({ dialect, ...given }))))(
  'what the service shows is compared with the ledger: $what, $dialect',
  async ({ dialect, entries, unknown }) => {
    const store = await openCleanStore(dialect);
    const scenario = await beginProven(store, { rules: { pacing } });
    await scenario.dial(1);
    await scenario.sweep(noon + minuteMs, [answered('conv_first', first, noon + 1_000)]);
    const list = entries.map((entry) => ({
      ...entry,
      references: (entry.references ?? []).map((text) => text.replace('LEDGER', store.ledgerId)),
    }));
    expect(await findUnknownCalls(store, await scenario.campaign(), listOf(list))).toEqual(unknown);
  },
);
