"""The tags of a PDF, which say to a screen reader what is heading, table or link: those of many files as one tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    DictionaryObject,
    IndirectObject,
    NameObject,
    NullObject,
    NumberObject,
    TextStringObject,
)

_KEPT = ("/S", "/Lang", "/Alt", "/ActualText", "/E", "/T", "/A", "/C")
_NOTHING = "/NonStruct"  # groups without a meaning; Chromium makes one for each piece of a line of code


class Tags:
    """Takes over the trees of files whose pages were added to a writer (ISO 32000-1, 14.7).

    pypdf leaves the trees out: it copies pages alone. Here they are built again without the groups that mean nothing,
    which are nine elements of ten, and with them the way back from a page's contents to their elements.
    """

    def __init__(self, writer: PdfWriter) -> None:
        self.writer = writer
        self.root = DictionaryObject({NameObject("/Type"): NameObject("/StructTreeRoot")})
        self.parts = ArrayObject()
        self.whole = self._element(
            {"/S": NameObject("/Document"), "/P": writer._add_object(self.root), "/K": self.parts}
        )
        self.back: list[Any] = []  # element of an annotation, or of the contents of a page by their numbers
        self.pages: dict[int, tuple[IndirectObject, list[Any]]] = {}  # of the file at hand, by the number of the object
        self.annotations: dict[int, IndirectObject] = {}

    def _element(self, entries: dict[str, Any]) -> IndirectObject:
        element = DictionaryObject({NameObject("/Type"): NameObject("/StructElem")})
        element.update({NameObject(name): value for name, value in entries.items()})
        return self.writer._add_object(element)

    def add(self, sheets: PdfReader, start: int) -> None:
        """Take over the tree of `sheets`, whose pages are in the writer from page `start` on."""
        catalog: Any = sheets.trailer["/Root"]
        if "/StructTreeRoot" not in catalog:
            return
        self.pages, self.annotations = {}, {}
        for offset, page in enumerate(sheets.pages):
            self._meet(page, self.writer.pages[start + offset])
        for element in _children(catalog["/StructTreeRoot"]):
            self.parts.append(self._copied(element, self.whole, NameObject("/Part")))

    def _meet(self, original: Any, page: Any) -> None:
        page[NameObject("/StructParents")] = NumberObject(len(self.back))
        page[NameObject("/Tabs")] = NameObject("/S")
        contents: list[Any] = []
        self.back.append(contents)
        self.pages[original.indirect_reference.idnum] = (page.indirect_reference, contents)
        for old, new in zip(original.get("/Annots", ()), page.get("/Annots", ()), strict=True):
            self.annotations[old.idnum] = new

    def _copied(self, element: Any, parent: IndirectObject, kind: NameObject | None = None) -> IndirectObject:
        entries = {name: element[name].clone(self.writer) for name in _KEPT if name in element}
        copy = self._element({**entries, "/P": parent, **({"/S": kind} if kind else {})})
        kids = ArrayObject(self._kids(element, copy))
        if kids:
            copy.get_object()[NameObject("/K")] = kids  # type: ignore[index]
        return copy

    def _kids(self, element: Any, parent: IndirectObject) -> Iterator[Any]:
        """What is below an element: elements, contents of pages, annotations; groups that mean nothing are opened."""
        for kid in _children(element):
            if isinstance(kid, int):
                yield self._contents(element.raw_get("/Pg"), kid, parent)
            elif kid.get("/Type") == "/MCR":
                yield self._contents(kid.raw_get("/Pg"), int(kid["/MCID"]), parent)
            elif kid.get("/Type") == "/OBJR":
                yield from self._annotation(kid, parent)
            elif kid["/S"] == _NOTHING:
                yield from self._kids(kid, parent)
            else:
                yield self._copied(kid, parent)

    def _contents(self, page: IndirectObject, number: int, parent: IndirectObject) -> Any:
        reference, contents = self.pages[page.idnum]
        contents.extend([NullObject()] * (number + 1 - len(contents)))
        contents[number] = parent
        element: Any = parent.get_object()
        if element.setdefault(NameObject("/Pg"), reference) == reference:
            return NumberObject(number)
        entries = {"/Type": NameObject("/MCR"), "/Pg": reference, "/MCID": NumberObject(number)}
        return DictionaryObject({NameObject(name): value for name, value in entries.items()})

    def _annotation(self, kid: Any, parent: IndirectObject) -> Iterator[Any]:
        annotation = self.annotations.get(kid.raw_get("/Obj").idnum)
        if annotation is None:
            return
        link: Any = annotation.get_object()
        link[NameObject("/StructParent")] = NumberObject(len(self.back))
        self.back.append(parent)
        entries = {"/Type": NameObject("/OBJR"), "/Obj": annotation}
        if "/Pg" in kid:
            entries["/Pg"] = self.pages[kid.raw_get("/Pg").idnum][0]
        yield DictionaryObject({NameObject(name): value for name, value in entries.items()})

    def finish(self, language: str) -> None:
        """Put the one tree into the writer."""
        numbers = ArrayObject()
        for number, element in enumerate(self.back):
            entry = self.writer._add_object(ArrayObject(element)) if isinstance(element, list) else element
            numbers.extend([NumberObject(number), entry])
        document: Any = self.whole.get_object()
        document[NameObject("/Lang")] = TextStringObject(language)
        self.root[NameObject("/K")] = self.whole
        self.root[NameObject("/ParentTree")] = self.writer._add_object(DictionaryObject({NameObject("/Nums"): numbers}))
        self.root[NameObject("/ParentTreeNextKey")] = NumberObject(len(self.back))
        catalog = self.writer.root_object
        assert self.root.indirect_reference is not None
        catalog[NameObject("/StructTreeRoot")] = self.root.indirect_reference
        catalog[NameObject("/MarkInfo")] = DictionaryObject({NameObject("/Marked"): BooleanObject(True)})


def _children(element: Any) -> list[Any]:
    kids = element.get("/K")
    if kids is None:
        return []
    kids = kids.get_object()
    return [kid.get_object() for kid in kids] if isinstance(kids, ArrayObject) else [kids]
