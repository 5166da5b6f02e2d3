import type { WorkbookArchive } from './archive.ts';
import { readAllXml } from './xml.ts';

export interface WorkbookSheet {
  name: string;
  /** Name of its part; null for a sheet that has no cells, such as a chart. */
  part: string | null;
  hidden: boolean;
}

export interface WorkbookParts {
  sheets: WorkbookSheet[];
  /** Dates count from 1904 instead of 1900. */
  from1904: boolean;
  /** Names of the parts that hold texts and formats; null when there are none. */
  strings: string | null;
  styles: string | null;
}

/** Reads which sheets a workbook has, and where its parts are. */
export async function readWorkbook(archive: WorkbookArchive): Promise<WorkbookParts> {
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

/** More sheets, or parts, than anybody's workbook has. */
const mostRelations = 10_000;

interface Relation {
  id: string;
  /** Last word of its type. */
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
