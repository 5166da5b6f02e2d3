import type { ConsoleFile } from '../core/file.ts';

/** What the page hands out as files. */
export const files: readonly ConsoleFile[] = [
  fileOf('results.csv', forSpreadsheet),
  fileOf('results.jsonl'),
  fileOf('results.xlsx'),
  // To be opened from where it is saved: its own styles stand in it, which a page of this server may not have.
  fileOf('report.html'),
  fileOf('rows/:row/calls/:call/recording'),
];

function fileOf(name: string, queryOf = (query: string) => query): ConsoleFile {
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
  return /[?&]safe_cells=/.test(query) ? query : `${query === '' ? '?' : `${query}&`}safe_cells=true&bom=true`;
}
