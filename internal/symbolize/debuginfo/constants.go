package debuginfo

// The numbers below are those of the DWARF 5 standard and of the GNU
// extensions for split units (Gnu...) and alternate files (GnuRefAlt, GnuStrpAlt).

type tag uint32

const (
	tagArrayType         tag = 0x01
	tagClassType         tag = 0x02
	tagEnumerationType   tag = 0x04
	tagCompileUnit       tag = 0x11
	tagStructureType     tag = 0x13
	tagSubroutineType    tag = 0x15
	tagUnionType         tag = 0x17
	tagInlinedSubroutine tag = 0x1d
	tagSubprogram        tag = 0x2e
	tagNamespace         tag = 0x39
	tagInterfaceType     tag = 0x38
	tagPartialUnit       tag = 0x3c
)

type attr uint32

const (
	attrSibling        attr = 0x01
	attrName           attr = 0x03
	attrStmtList       attr = 0x10
	attrLowPC          attr = 0x11
	attrHighPC         attr = 0x12
	attrLanguage       attr = 0x13
	attrCompDir        attr = 0x1b
	attrAbstractOrigin attr = 0x31
	attrSpecification  attr = 0x47
	attrRanges         attr = 0x55
	attrCallFile       attr = 0x58
	attrCallLine       attr = 0x59
	attrLinkageName    attr = 0x6e
	attrStrOffsetsBase attr = 0x72
	attrAddrBase       attr = 0x73
	attrRngListsBase   attr = 0x74
	attrDwoName        attr = 0x76
	attrMIPSLinkage    attr = 0x2007
	attrGnuDwoName     attr = 0x2130
	attrGnuDwoID       attr = 0x2131
	attrGnuRangesBase  attr = 0x2132
	attrGnuAddrBase    attr = 0x2133
)

type form uint32

const (
	formAddr          form = 0x01
	formBlock2        form = 0x03
	formBlock4        form = 0x04
	formData2         form = 0x05
	formData4         form = 0x06
	formData8         form = 0x07
	formString        form = 0x08
	formBlock         form = 0x09
	formBlock1        form = 0x0a
	formData1         form = 0x0b
	formFlag          form = 0x0c
	formSdata         form = 0x0d
	formStrp          form = 0x0e
	formUdata         form = 0x0f
	formRefAddr       form = 0x10
	formRef1          form = 0x11
	formRef2          form = 0x12
	formRef4          form = 0x13
	formRef8          form = 0x14
	formRefUdata      form = 0x15
	formIndirect      form = 0x16
	formSecOffset     form = 0x17
	formExprloc       form = 0x18
	formFlagPresent   form = 0x19
	formStrx          form = 0x1a
	formAddrx         form = 0x1b
	formRefSup4       form = 0x1c
	formStrpSup       form = 0x1d
	formData16        form = 0x1e
	formLineStrp      form = 0x1f
	formRefSig8       form = 0x20
	formImplicitConst form = 0x21
	formLoclistx      form = 0x22
	formRnglistx      form = 0x23
	formRefSup8       form = 0x24
	formStrx1         form = 0x25
	formStrx2         form = 0x26
	formStrx3         form = 0x27
	formStrx4         form = 0x28
	formAddrx1        form = 0x29
	formAddrx2        form = 0x2a
	formAddrx3        form = 0x2b
	formAddrx4        form = 0x2c
	formGnuAddrIndex  form = 0x1f01
	formGnuStrIndex   form = 0x1f02
	formGnuRefAlt     form = 0x1f20
	formGnuStrpAlt    form = 0x1f21
)

const (
	unitCompile      = 0x01
	unitPartial      = 0x03
	unitSkeleton     = 0x04
	unitSplitCompile = 0x05
)

const (
	rleEndOfList    = 0x00
	rleBaseAddressx = 0x01
	rleStartxEndx   = 0x02
	rleStartxLength = 0x03
	rleOffsetPair   = 0x04
	rleBaseAddress  = 0x05
	rleStartEnd     = 0x06
	rleStartLength  = 0x07
)

const (
	lnsCopy            = 0x01
	lnsAdvancePC       = 0x02
	lnsAdvanceLine     = 0x03
	lnsSetFile         = 0x04
	lnsConstAddPC      = 0x08
	lnsFixedAdvancePC  = 0x09
	lneEndSequence     = 0x01
	lneSetAddress      = 0x02
	lneDefineFile      = 0x03
	lnctPath           = 0x01
	lnctDirectoryIndex = 0x02
)
