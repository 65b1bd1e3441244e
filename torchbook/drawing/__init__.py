"""Still diagrams of the chapters: `Drawing` lays shapes out, `recipes` draw what torch says of tensors and graphs.

One grammar of colour in the whole book: blue is read, orange is gradient or write, green is kept, red is refused,
dashed is absent. Text is never coloured, so that nothing is said by colour alone.
"""

from torchbook.drawing.canvas import ROLES as ROLES
from torchbook.drawing.canvas import WIDTH as WIDTH
from torchbook.drawing.canvas import Box as Box
from torchbook.drawing.canvas import Drawing as Drawing
from torchbook.drawing.canvas import Part as Part
