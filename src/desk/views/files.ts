import type { DeskFile } from '../core/file.ts';

/** What the page hands out as files. */
export const files: readonly DeskFile[] = [
  fileOf('results.csv', forSpreadsheet),
  fileOf('results.jsonl'),
  fileOf('results.xlsx'),
  // To be opened from where it is saved: its own styles stand in it, which a page of this server may not have.
  fileOf('report.html'),
  fileOf('rows/:row/calls/:call/recording'),
];

function fileOf(name: string, queryOf = (query: string) => query): DeskFile {
  return {
    path: `/campaigns/:campaign/${name}`,
    url: ({ campaign = '', ...more }, query) => {
      const filled = name.replace(/:(\w+)/g, (_, part: string) => encodeURIComponent(more[part] ?? ''));
      return `/api/v1/campaigns/${encodeURIComponent(campaign)}/${filled}${queryOf(query)}`;
    },
  };
}

/** Whoever downloads from a page opens the file in a spreadsheet, unless they say that they want the cells as they are. */
function forSpreadsheet(query: string): string {
  const asked = new URLSearchParams(query);
  if (!asked.has('safe_cells')) {
    asked.set('safe_cells', 'true');
    asked.set('bom', 'true');
  }
  return `?${asked.toString()}`;
}
