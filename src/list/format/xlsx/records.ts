import { ListFileError } from '../../../shared/input/errors.ts';
import { type ListDescription, type ListLayout, type SheetLayout, fullChunk, longestCell, type ListRecord } from '../record.ts';
import { didYouMean } from '../../../rules/nearest-name.ts';
import { explainArchiveFault, WorkbookArchive } from './archive.ts';
import { lettersOf, readSheetRows, type SheetRow } from './sheet.ts';
import { readSharedStrings } from './strings.ts';
import { readStyles } from './number-format.ts';
import { readAllXml } from './xml.ts';

/** Selects the named sheet, else the first visible one. Throws ListFileError. */
export async function describeWorkbook(path: string, sheetName: string | undefined): Promise<ListDescription> {
  const archive = await WorkbookArchive.open(path);
  try {
    const { sheets } = await readWorkbook(archive);
    const sheet = findSheet(path, sheets, sheetName);
    const others = sheets.filter(({ part, hidden }) => part !== null && !hidden).length - 1;
    const more =
      sheetName === undefined && others > 0 ? `, the first of ${String(others + 1)}; list.sheet in the campaign file names another` : '';
    const notes = [`sheet ${JSON.stringify(sheet.name)} of an Excel workbook${more}`];
    return { layout: { kind: 'sheet', sheet: sheet.name, width: 0, recordsAbove: 0 }, notes };
  } catch (error) {
    throw explainArchiveFault(path, error);
  } finally {
    archive.close();
  }
}

/** Streams records of a sheet in chunks of at most `chunkSize`: text as displayed, dates as ISO. Throws ListFileError. */
export async function* readSheetRecords(
  path: string,
  layout: SheetLayout & Pick<ListLayout, 'recordsAbove'>,
  chunkSize: number,
): AsyncGenerator<ListRecord[]> {
  const archive = await WorkbookArchive.open(path);
  try {
    const { sheets, from1904, strings, styles } = await readWorkbook(archive);
    const { part } = findSheet(path, sheets, layout.sheet);
    const context = {
      strings: await readSharedStrings(archive, strings),
      formats: await readStyles(archive, styles),
      from1904,
    };
    let records: ListRecord[] = [];
    let size = { cells: 0, characters: 0 };
    let row = 0 - layout.recordsAbove;
    for await (const rows of readSheetRows(await archive.read(part), context)) {
      for (const sheetRow of rows) {
        const record = asRecord(sheetRow, row++, layout.width);
        records.push(record);
        size.cells += record.cells.length;
        size.characters += record.cells.reduce((sum, cell) => sum + cell.length, 0);
        const isFull = size.cells >= fullChunk.cells || size.characters >= fullChunk.characters;
        if (records.length < chunkSize && !isFull) continue;
        yield records;
        records = [];
        size = { cells: 0, characters: 0 };
      }
    }
    if (records.length > 0) yield records;
  } catch (error) {
    throw explainArchiveFault(path, error);
  } finally {
    archive.close();
  }
}

/** Below the header: as many cells as the header has, then the non-empty cells further to the right. */
function asRecord({ number, cells, uncomputed }: SheetRow, row: number, headerWidth: number): ListRecord {
  const isBelowHeader = row > 0 && headerWidth > 0;
  const width = isBelowHeader ? headerWidth : 1 + Math.max(-1, ...cells.keys());
  const written = Array.from({ length: width }, (_, column) => cells.get(column) ?? '');
  const beyond = [...cells.keys()].filter((column) => column >= width).sort((a, b) => a - b);
  for (const column of beyond) written.push(cells.get(column) ?? '');
  const record: ListRecord = { row, line: number, cells: written, damage: null };
  const [first] = beyond;
  if (first !== undefined) {
    const place = `the cell ${lettersOf(first)}${String(number)} stands to the right of the header, which ends with column ${lettersOf(width - 1)}`;
    record.damage = { index: width, hint: `${place}; empty it, or give its column a name` };
  }
  const long = written.findIndex((cell) => cell.length > longestCell);
  if (long >= 0) record.damage = { index: long, hint: `more than the ${String(longestCell)} characters a cell may have` };
  if (uncomputed >= 0) {
    const hint = 'the cell holds a formula without a result; open the workbook, let it compute, and save it';
    record.damage = { index: uncomputed, hint };
  }
  return record;
}

function findSheet(path: string, sheets: readonly WorkbookSheet[], sheetName: string | undefined): { name: string; part: string } {
  const withCells = sheets.filter(({ part }) => part !== null);
  const found =
    sheetName === undefined ? (withCells.find(({ hidden }) => !hidden) ?? withCells[0]) : withCells.find(({ name }) => name === sheetName);
  if (found?.part != null) return { name: found.name, part: found.part };
  if (sheetName === undefined) throw new ListFileError(path, 'this workbook has no sheet with cells');
  const names = withCells.map(({ name }) => name);
  const guess = didYouMean(sheetName, names);
  const known = names.map((name) => JSON.stringify(name)).join(', ');
  throw new ListFileError(path, `there is no sheet ${JSON.stringify(sheetName)}.${guess} The sheets are ${known}`);
}

interface WorkbookSheet {
  name: string;
  /** Null for a sheet without cells, such as a chart. */
  part: string | null;
  hidden: boolean;
}

interface WorkbookParts {
  sheets: WorkbookSheet[];
  from1904: boolean;
  /** Part names of shared texts and formats; null: none. */
  strings: string | null;
  styles: string | null;
}

async function readWorkbook(archive: WorkbookArchive): Promise<WorkbookParts> {
  const root = await readRelations(archive, '_rels/.rels', '');
  const workbook = root.find(({ type }) => type === 'officeDocument')?.part ?? 'xl/workbook.xml';
  const folder = workbook.slice(0, workbook.lastIndexOf('/') + 1);
  const relations = await readRelations(archive, `${folder}_rels/${workbook.slice(folder.length)}.rels`, folder);
  const sheets: WorkbookSheet[] = [];
  let from1904 = false;
  await readAllXml(await archive.read(workbook), {
    open: (name, attribute) => {
      if (name === 'workbookPr') from1904 = ['1', 'true'].includes(attribute('date1904') ?? '');
      if (name !== 'sheet') return;
      if (sheets.length >= mostRelations) throw new Error('it has too many sheets');
      const id = attribute('r:id') ?? attribute('id');
      const relation = relations.find((known) => known.id === id);
      const part = relation?.type === 'worksheet' ? relation.part : null;
      sheets.push({ name: attribute('name') ?? '', part, hidden: /hidden/i.test(attribute('state') ?? '') });
    },
  });
  const partOf = (type: string): string | null => relations.find((relation) => relation.type === type)?.part ?? null;
  return { sheets, from1904, strings: partOf('sharedStrings'), styles: partOf('styles') };
}

/** More than any real workbook has. */
const mostRelations = 10_000;

interface Relation {
  id: string;
  /** Last path segment of the type URL. */
  type: string;
  part: string;
}

async function readRelations(archive: WorkbookArchive, part: string, folder: string): Promise<Relation[]> {
  const relations: Relation[] = [];
  if (!archive.has(part)) return relations;
  await readAllXml(await archive.read(part), {
    open: (name, attribute) => {
      if (name !== 'Relationship' || attribute('TargetMode') === 'External') return;
      if (relations.length >= mostRelations) throw new Error('it has too many parts');
      const type = attribute('Type') ?? '';
      const target = new URL(attribute('Target') ?? '', `file:///${folder}`).pathname.slice(1);
      relations.push({ id: attribute('Id') ?? '', type: type.slice(type.lastIndexOf('/') + 1), part: target });
    },
  });
  return relations;
}
