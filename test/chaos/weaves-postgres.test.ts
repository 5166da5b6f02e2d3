import { testWeaves } from './weaves-suite.ts';

testWeaves('postgres', { every: 2003, seeds: 8 });
