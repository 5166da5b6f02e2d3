import { readFormat, type CellFormat } from './number-format.ts';
import type { WorkbookArchive } from './archive.ts';
import { readAllXml } from './xml.ts';

/** Formats that every workbook has without writing them down, by their number. */
const builtIn: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0;(#,##0)',
  38: '#,##0;(#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;(#,##0.00)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
};

/** What spreadsheets allow; the format of a cell that has a further style is not looked at, nor is a longer code. */
const mostStyles = 65_490;
const longestCode = 1_000;

/** Dates of East Asian calendars, which have no code in the file. */
function isEastAsianDate(id: number): boolean {
  return (id >= 27 && id <= 36) || (id >= 50 && id <= 58);
}

/** The format of each cell style, in the order in which cells refer to them. */
export async function readStyles(archive: WorkbookArchive, part: string | null): Promise<CellFormat[]> {
  const codes = new Map<number, string>();
  const formats: CellFormat[] = [];
  if (part === null || !archive.has(part)) return formats;
  let inCellFormats = false;
  await readAllXml(await archive.read(part), {
    open: (name, attribute) => {
      if (name === 'numFmt' && codes.size < mostStyles) {
        const code = attribute('formatCode') ?? '';
        codes.set(Number(attribute('numFmtId')), code.length > longestCode ? 'General' : code);
      }
      if (name === 'cellXfs') inCellFormats = true;
      if (name !== 'xf' || !inCellFormats || formats.length >= mostStyles) return;
      const id = Number(attribute('numFmtId') ?? '0');
      formats.push(readFormat(codes.get(id) ?? builtIn[id] ?? (isEastAsianDate(id) ? 'yyyy-mm-dd' : 'General')));
    },
    close: (name) => {
      if (name === 'cellXfs') inCellFormats = false;
    },
  });
  return formats;
}
