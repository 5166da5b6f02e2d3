import { expect, test } from 'vitest';
import { buildRows, minuteMs } from '../support/campaign-rules.ts';
import { openCleanStore } from './clean-store.ts';
import { answered, beginProven, noon, numbers } from './scenario.ts';
import { bothDialects } from './test-stores.ts';

const [first = '', second = ''] = numbers(2);

test.for(bothDialects)(
  'an open attempt whose record is final is settled by the next sweep, or read first if it never was: %s',
  async (dialect) => {
    const store = await openCleanStore(dialect);
    const rows = buildRows([first, second], (index) => `Guest ${index}`);
    const scenario = await beginProven(store, { rows });
    const ids = await scenario.dial(1);
    const records = [first, second].map((e164, index) => answered(`conversation_${index}`, e164, noon + 5_000));
    await scenario.sweep(noon + minuteMs, records, false);
    // As processes have left it that took turns between two statements of each other.
    await store.db.updateTable('attempts').set({ state: 'open', disposition: null, settled_at: null }).execute();
    const unread = { reads: 0, finished: 0 };
    await store.db
      .updateTable('conversations')
      .set(unread)
      .where('attempt_id', '=', ids[1] ?? '')
      .execute();
    await scenario.sweep(noon + 2 * minuteMs, []);
    const [read, other] = await scenario.attempts();
    expect(read).toMatchObject({ state: 'settled', disposition: 'answered' });
    expect(other).toMatchObject({ state: 'open' });
    const due = store.db.selectFrom('conversations').select('conversation_id').where('final', '=', 0);
    expect(await due.execute()).toEqual([{ conversation_id: 'conversation_1' }]);
    await scenario.sweep(noon + 3 * minuteMs, records.slice(1));
    expect((await scenario.attempts())[1]).toMatchObject({ state: 'settled', disposition: 'answered' });
  },
);
