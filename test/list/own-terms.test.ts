import { expect, test } from 'vitest';
import { minimalCampaign, importList } from './campaign-folder.ts';

/** The rows of a list with such a column, by what they say there. */
async function read(setting: string, cells: readonly string[]) {
  const yaml = minimalCampaign.replace('phone: phone', `phone: phone, default_region: US, ${setting}: own`);
  const lines = cells.map((cell, index) => `212555${String(100 + index).padStart(4, '0')},"${cell}"`);
  return (await importList(yaml, ['phone,own', ...lines, ''].join('\n'))).rows;
}

test('a priority is a whole number from 1 to 100; what else stands there refuses its row and is named', async () => {
  const rows = await read('priority', ['1', '100', ' 7 ', '', '0', '101', '1.5', 'high', '-1']);
  expect(rows.slice(0, 4).map(({ verdict, priority }) => [verdict, priority])).toEqual([
    ['accepted', 1],
    ['accepted', 100],
    ['accepted', 7],
    ['accepted', undefined],
  ]);
  const hint = (cell: string) =>
    `"${cell}" is no priority; write a whole number from 1 (called first) to 100, or leave the cell empty for 50`;
  expect(rows.slice(4)).toMatchObject(
    ['0', '101', '1.5', 'high', '-1'].map((cell, index) => {
      return { row: index + 5, verdict: 'rejected', reason: 'invalid_priority', column: 'own', hint: hint(cell) };
    }),
  );
});
